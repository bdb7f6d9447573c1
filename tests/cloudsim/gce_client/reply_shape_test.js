// SPDX-License-Identifier: Apache-2.0
// The check that every other test of this folder relies on finds what is wrong.
'use strict';
const assert = require('node:assert/strict');
const {test} = require('node:test');
const {PROJECT, Simulator, ZONE} = require('./simulator');
const {replyComplaints} = require('./reply_shape');

const HERE = `http://127.0.0.1/compute/v1/projects/p/zones/${ZONE}`;

test('a good reply is one', () => {
  const list = {kind: 'compute#instanceList', items: [{id: '1', name: 'n', labels: {a: 'b'}, disks: [{index: 0}]}]};
  assert.deepEqual(replyComplaints('GET', HERE + '/instances?maxResults=1', list), []);
  assert.deepEqual(replyComplaints('POST', HERE + '/instances/bulkInsert', {id: '1', progress: 100}), []);
});

test('unknown fields, wrong types and unknown paths are found', () => {
  const found = (path, reply) => replyComplaints('GET', HERE + path, reply).join();
  assert.match(found('/instances', {itmes: []}), /Instances.list.itmes: InstanceList has no such field/);
  assert.match(found('/instances', {items: {}}), /items: expected Instance\[\], found {}/);
  assert.match(found('/instances', {items: [{id: 1}]}), /items\[0\].id: expected string, found 1/);
  assert.match(found('/instances/n', {labels: {a: 1}}), /Instances.get.labels.a: expected string/);
  assert.match(found('/instances/n', {scheduling: 'x'}), /expected Scheduling/);
  assert.match(found('/operations/o', {progress: '100'}), /Zoneoperations.get.progress: expected number/);
  assert.match(found('/nothing', {}), /no such method/);
});

test('replies of cloudsim go through it', async () => {
  const sim = await Simulator.start();
  try {
    const compute = sim.compute(await sim.serviceAccount());
    await sim.control('POST', '/faults', {action: 'Zones.get', kind: 'garbage'});
    await assert.rejects(compute.zones.get({project: PROJECT, zone: ZONE}), /Zones.get: expected Zone/);
  } finally {
    await sim.stop();
  }
});
