// SPDX-License-Identifier: Apache-2.0
// Machines, operations, templates and places, asked for with Google's own client.
'use strict';
const assert = require('node:assert/strict');
const {randomUUID} = require('node:crypto');
const {after, before, beforeEach, test} = require('node:test');
const {PROJECT: project, REGION: region, Simulator, ZONE: zone, refused, waitUntil} = require('./simulator');

const TEMPLATE = 'global/instanceTemplates/template-name';
let sim;
let compute;

before(async () => {
  sim = await Simulator.start();
});
after(() => sim.stop());
beforeEach(async () => {
  await sim.control('POST', '/reset');
  compute = sim.compute(await sim.serviceAccount());
});

const here = {project, zone};
const names = response => (response.data.items || []).map(item => item.name).sort();
const lastPart = link => link.split('/').pop();

function bulk(machines, more = {}) {
  return {
    count: String(machines.length),
    sourceInstanceTemplate: TEMPLATE,
    perInstanceProperties: Object.fromEntries(machines.map(name => [name, {}])),
    ...more,
  };
}

/** Makes machines and waits for them; gives the operation at its end. */
async function made(machines, more) {
  const begun = await compute.instances.bulkInsert({...here, requestBody: bulk(machines, more)});
  return (await compute.zoneOperations.wait({...here, operation: begun.data.name})).data;
}

/** Why machines of a bulkInsert were not made, by their own operations. */
async function insertErrors({operationGroupId: group}) {
  const filter = `(operationGroupId eq "${group}") AND (operationType eq "insert")`;
  const {data} = await compute.zoneOperations.list({...here, filter});
  return (data.items || []).filter(item => item.error).map(item => item.error.errors[0].code);
}

async function instance(name) {
  return (await compute.instances.get({...here, instance: name})).data;
}

test('bulkInsert makes the machines that it names, as template and overrides say', async () => {
  const operation = await made(['n-1', 'n-2'], {instanceProperties: {labels: {cluster: 'c1'}}});
  assert.equal(operation.status, 'DONE');
  assert.equal(operation.progress, 100);
  assert.equal(operation.error, undefined);
  assert.equal(lastPart(operation.zone), zone);
  const status = operation.instancesBulkInsertOperationMetadata.perLocationStatus[`zones/${zone}`];
  assert.deepEqual([status.targetVmCount, status.createdVmCount], [2, 2]);
  const list = await compute.instances.list(here);
  assert.deepEqual(names(list), ['n-1', 'n-2']);
  const one = await instance('n-1');
  assert.deepEqual(one.labels, {cluster: 'c1'});
  assert.equal(lastPart(one.machineType), 'n2-standard-2');
  assert.equal(lastPart(one.zone), zone);
  assert.equal(one.selfLink, list.data.items[0].selfLink);
  const running = await waitUntil(async () => {
    const now = await instance('n-1');
    return now.status === 'RUNNING' && now.networkInterfaces[0].networkIP && now;
  });
  assert.match(running.networkInterfaces[0].networkIP, /^127\.20\./);
});

test('a regional bulkInsert puts all machines into one zone when it is told to', async () => {
  const locationPolicy = {
    zones: [{zone: `zones/${region}-b`}, {zone: `zones/${region}-c`}],
    targetShape: 'ANY_SINGLE_ZONE',
  };
  const begun = await compute.regionInstances.bulkInsert(
      {project, region, requestBody: bulk(['n-1', 'n-2', 'n-3'], {locationPolicy})});
  const {data} = await compute.regionOperations.wait({project, region, operation: begun.data.name});
  assert.equal(data.status, 'DONE');
  assert.equal(data.error, undefined);
  const zones = Object.entries((await compute.instances.aggregatedList({project})).data.items)
      .filter(([, scope]) => scope.instances);
  assert.equal(zones.length, 1);
  assert.match(zones[0][0], /^zones\/us-central1-[bc]$/);
  assert.deepEqual(zones[0][1].instances.map(item => item.name).sort(), ['n-1', 'n-2', 'n-3']);
});

test('a request with the same requestId is the same request', async () => {
  const requestId = randomUUID();
  const call = () => compute.instances.bulkInsert({...here, requestId, requestBody: bulk(['n-1'])});
  const first = await call();
  const second = await call();
  assert.equal(first.data.name, second.data.name);
  assert.deepEqual(names(await compute.instances.list(here)), ['n-1']);
});

test('a name that is taken stands in the operation\'s error', async () => {
  await made(['n-1']);
  const operation = await made(['n-1', 'n-2'], {minCount: '1'});
  assert.equal(operation.status, 'DONE');
  assert.deepEqual(await insertErrors(operation), ['RESOURCE_ALREADY_EXISTS']);
  assert.deepEqual(names(await compute.instances.list(here)), ['n-1', 'n-2']);
});

test('a stock-out and a quota stand in the operation\'s error', async () => {
  await sim.knobs({capacity: [{type: '*', where: zone, available: 1}]});
  const short = await made(['n-1', 'n-2']);
  assert.equal(short.status, 'DONE');
  assert(short.error.errors.length > 0);
  assert.deepEqual(names(await compute.instances.list(here)), []);
  await made(['n-3', 'n-4'], {minCount: '1'});
  await waitUntil(async () => names(await compute.instances.list(here)).length === 1);
  await sim.knobs({capacity: [], quota: {vms: 1}});
  const over = await made(['n-5', 'n-6']);
  assert(over.error.errors.length > 0);
  assert.deepEqual(await insertErrors(over), ['QUOTA_EXCEEDED', 'QUOTA_EXCEEDED']);
});

test('a deleted machine is gone when the operation is done', async () => {
  await made(['n-1', 'n-2']);
  const begun = await compute.instances.delete({...here, instance: 'n-1'});
  const {data} = await compute.zoneOperations.wait({...here, operation: begun.data.name});
  assert.equal(data.status, 'DONE');
  assert.equal(data.operationType, 'delete');
  assert.equal(lastPart(data.targetLink), 'n-1');
  await refused(404, 'notFound', compute.instances.get({...here, instance: 'n-1'}));
  await refused(404, 'notFound', compute.instances.delete({...here, instance: 'n-1'}));
  assert.deepEqual(names(await compute.instances.list(here)), ['n-2']);
});

test('an operation can be read, listed and waited for; wait comes back before the end', async () => {
  await sim.knobs({operation_ms: 60000, wait_ms: 50});
  const begun = await compute.instances.bulkInsert({...here, requestBody: bulk(['n-1'])});
  const operation = begun.data.name;
  assert.notEqual(begun.data.status, 'DONE');
  const waited = await compute.zoneOperations.wait({...here, operation});
  assert.notEqual(waited.data.status, 'DONE');
  const read = await compute.zoneOperations.get({...here, operation});
  assert.equal(read.data.name, operation);
  assert((await compute.zoneOperations.list(here)).data.items.some(item => item.name === operation));
  await refused(404, 'notFound', compute.zoneOperations.get({...here, operation: 'operation-nobody'}));
  await refused(404, 'notFound', compute.regionOperations.get({project, region, operation}));
});

test('lists come in pages, each machine once', async () => {
  const machines = Array.from({length: 7}, (_, i) => `n-${i}`);
  await made(machines);
  const seen = [];
  let pageToken;
  let pages = 0;
  do {
    const page = await compute.instances.list({...here, maxResults: 3, pageToken});
    seen.push(...names(page));
    pageToken = page.data.nextPageToken;
    pages += 1;
  } while (pageToken);
  assert.equal(pages, 3);
  assert.deepEqual(seen.sort(), machines);
  assert.equal(names(await compute.instances.list({...here, maxResults: 0})).length, 7);
  await refused(400, 'invalid', compute.instances.list({...here, maxResults: 501}));
  await refused(400, 'invalid', compute.instances.list({...here, pageToken: 'made-up'}));
});

test('lists take filters', async () => {
  await made(['a-1', 'a-10'], {instanceProperties: {labels: {cluster: 'c1'}}});
  await made(['b-1'], {instanceProperties: {labels: {cluster: 'c2'}}});
  const found = async filter => names(await compute.instances.list({...here, filter}));
  assert.deepEqual(await found('labels.cluster = c1'), ['a-1', 'a-10']);
  assert.deepEqual(await found('labels.cluster=c1 AND name=a-1'), ['a-1']);
  assert.deepEqual(await found('name:a-*'), ['a-1', 'a-10']);
  assert.deepEqual(await found('(name = a-1) OR (name = b-1)'), ['a-1', 'b-1']);
  assert.deepEqual(await found('name eq "a-.*"'), ['a-1', 'a-10']);
  assert.deepEqual(await found('labels.cluster != c1'), ['b-1']);
  assert.deepEqual(await found('name = a'), []);
  await refused(400, 'invalid', compute.instances.list({...here, filter: 'name ='}));
  await refused(400, 'invalid', compute.instances.list({...here, filter: '(name eq "a.*") (labels.cluster = c1)'}));
  await refused(400, 'invalid', compute.instances.list({...here, filter: 'nome = a'}));
  const all = await compute.instances.aggregatedList({project, filter: 'labels.cluster = c2'});
  assert.deepEqual(all.data.items[`zones/${zone}`].instances.map(item => item.name), ['b-1']);
});

test('a reply holds the fields that are asked for', async () => {
  await made(['n-1'], {instanceProperties: {labels: {cluster: 'c1', job: '7'}}});
  const {data} = await compute.instances.list({...here, fields: 'items(name,labels/job),nextPageToken'});
  assert.deepEqual(data, {items: [{name: 'n-1', labels: {job: '7'}}]});
  await refused(400, 'invalidParameter', compute.instances.list({...here, fields: 'items('}));
});

test('templates can be made, read, listed and deleted', async () => {
  const properties = {
    machineType: 'n2-standard-4',
    disks: [{boot: true, autoDelete: true, initializeParams: {sourceImage: 'projects/debian-cloud/global/images/debian-12'}}],
    networkInterfaces: [{network: 'global/networks/default'}],
  };
  const insert = await compute.instanceTemplates.insert({project, requestBody: {name: 'mine', properties}});
  const {data} = await compute.globalOperations.wait({project, operation: insert.data.name});
  assert.equal(data.status, 'DONE');
  const read = await compute.instanceTemplates.get({project, instanceTemplate: 'mine'});
  assert.equal(read.data.properties.machineType, 'n2-standard-4');
  const list = await compute.instanceTemplates.list({project, filter: 'name = mine'});
  assert.deepEqual(names(list), ['mine']);
  await refused(409, 'alreadyExists', compute.instanceTemplates.insert({project, requestBody: {name: 'mine', properties}}));
  await compute.instanceTemplates.delete({project, instanceTemplate: 'mine'});
  await refused(404, 'notFound', compute.instanceTemplates.get({project, instanceTemplate: 'mine'}));
});

test('zones, regions and machine types are those of Google', async () => {
  assert((await compute.zones.list({project})).data.items.some(item => item.name === zone));
  assert.equal((await compute.regions.get({project, region})).data.name, region);
  assert((await compute.regions.list({project})).data.items.some(item => item.name === region));
  const {data} = await compute.machineTypes.get({...here, machineType: 'n2-standard-2'});
  assert.equal(data.guestCpus, 2);
  assert((await compute.machineTypes.list(here)).data.items.length > 5);
  await refused(404, 'notFound', compute.machineTypes.get({...here, machineType: 'n2-standard-3'}));
});
