// SPDX-License-Identifier: Apache-2.0
// Whether a reply of cloudsim has the form that Google's client expects: its message's fields and types in compute-v1.json.
'use strict';
const fs = require('node:fs');
const path = require('node:path');

const {methods, schemas} = JSON.parse(fs.readFileSync(path.join(__dirname, '../../data/compute-v1.json')));

const LISTS = {
  Instances: 'InstanceList',
  Instancetemplates: 'InstanceTemplateList',
  Machinetypes: 'MachineTypeList',
  Regioninstancegroupmanagerresizerequests: 'RegionInstanceGroupManagerResizeRequestsListResponse',
  Regioninstancegroupmanagers: 'RegionInstanceGroupManagerList',
  Regions: 'RegionList',
  Zones: 'ZoneList',
};
const RESOURCES = {
  Instances: 'Instance',
  Instancetemplates: 'InstanceTemplate',
  Machinetypes: 'MachineType',
  Regioninstancegroupmanagerresizerequests: 'InstanceGroupManagerResizeRequest',
  Regioninstancegroupmanagers: 'InstanceGroupManager',
  Regions: 'Region',
  Zones: 'Zone',
};

const PATTERNS = Object.entries(methods).map(([name, {method, path: template}]) => ({
  name, method, pattern: new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`),
  variables: template.split('{').length,
})).sort((a, b) => a.variables - b.variables);

/** The message that a good reply to this method is. */
function messageOf(name) {
  const [collection, verb] = name.split('.');
  if (verb === 'aggregatedList') return 'InstanceAggregatedList';
  if (verb === 'listManagedInstances') return 'RegionInstanceGroupManagersListInstancesResponse';
  if (verb === 'list') return collection.endsWith('operations') ? 'OperationList' : LISTS[collection];
  if (verb === 'get' && !collection.endsWith('operations')) return RESOURCES[collection];
  return 'Operation';
}

function check(type, value, where, complaints) {
  const complain = wanted => complaints.push(`${where}: expected ${wanted}, found ${JSON.stringify(value)}`);
  if (type.endsWith('[]')) {
    if (!Array.isArray(value)) return complain(type);
    return value.forEach((item, i) => check(type.slice(0, -2), item, `${where}[${i}]`, complaints));
  }
  const map = /^map<string,(\w+)>$/.exec(type);
  if (map || schemas[type]) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return complain(type);
    for (const [key, item] of Object.entries(value)) {
      const wanted = map ? map[1] : schemas[type][key];
      if (wanted) check(wanted, item, `${where}.${key}`, complaints);
      else complaints.push(`${where}.${key}: ${type} has no such field`);
    }
    return undefined;
  }
  // What the client spells out in place stands in the file in part only.
  if (['string', 'number', 'boolean'].includes(type) && typeof value !== type) return complain(type);
  return undefined;
}

/** What is wrong with the reply to that request; an empty list: nothing. */
function replyComplaints(httpMethod, url, body) {
  const {pathname} = new URL(url);
  const found = PATTERNS.find(known => known.method === httpMethod && known.pattern.test(pathname));
  if (!found) return [`${httpMethod} ${pathname}: no such method`];
  const message = messageOf(found.name);
  if (!message) return [`${found.name}: reply_shape.js does not know its message`];
  const complaints = [];
  check(message, body, found.name, complaints);
  return complaints;
}

module.exports = {replyComplaints};
