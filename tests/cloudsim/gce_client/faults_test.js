// SPDX-License-Identifier: Apache-2.0
// What goes wrong on demand, as Google's own client sees it.
'use strict';
const assert = require('node:assert/strict');
const {randomUUID} = require('node:crypto');
const {after, before, beforeEach, test} = require('node:test');
const {PROJECT: project, Simulator, ZONE: zone, refused, waitUntil} = require('./simulator');

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
const fault = rule => sim.control('POST', '/faults', rule);

function insert(name, more = {}) {
  const requestBody = {
    count: '1',
    sourceInstanceTemplate: 'global/instanceTemplates/template-name',
    perInstanceProperties: {[name]: {}},
  };
  return compute.instances.bulkInsert({...here, requestBody, ...more});
}

async function names() {
  return (await sim.control('GET', '/gce/instances')).map(instance => instance.name);
}

test('too many requests', async () => {
  await fault({action: 'Instances.bulkInsert', kind: 'throttle'});
  await refused(403, 'rateLimitExceeded', insert('n-1'));
  await fault({action: 'Instances.bulkInsert', kind: 'throttle', status: 429});
  await refused(429, 'rateLimitExceeded', insert('n-1'));
  assert.deepEqual(await names(), []);
  await insert('n-1');
  assert.deepEqual(await names(), ['n-1']);
});

test('the published limits, made small', async () => {
  await sim.control('POST', '/knobs', {buckets: {'gce/list': {capacity: 2, refill: 0.001}}});
  await compute.instances.list(here);
  await compute.instances.list(here);
  await refused(403, 'rateLimitExceeded', compute.instances.list(here));
  await compute.zones.get(here);
});

test('an error of the caller\'s choice, for calls with certain parameters, so many times', async () => {
  await fault({action: 'Instances.list', kind: 'error', status: 503, code: 'backendError', match: {zone}, count: 2});
  await refused(503, 'backendError', compute.instances.list(here));
  await compute.instances.list({project, zone: 'us-central1-b'});
  await refused(503, 'backendError', compute.instances.list(here));
  await compute.instances.list(here);
  const {actions} = await sim.control('GET', '/calls');
  assert.deepEqual([actions['Instances.list'].attempts, actions['Instances.list'].ok], [4, 2]);
});

test('a connection that breaks before anything was done', async () => {
  await fault({action: 'Instances.bulkInsert', kind: 'drop_before'});
  await assert.rejects(insert('n-1'));
  assert.deepEqual(await names(), []);
});

test('a connection that breaks after the request took effect: the same request again makes no second machine', async () => {
  for (const kind of ['drop_after', 'cut']) {
    const name = kind.replace('_', '-');
    const requestId = randomUUID();
    await fault({action: 'Instances.bulkInsert', kind});
    await assert.rejects(insert(name, {requestId}));
    assert((await names()).includes(name));
    const again = await insert(name, {requestId});
    const {data} = await compute.zoneOperations.wait({...here, operation: again.data.name});
    assert.equal(data.error, undefined);
    assert.equal((await names()).filter(known => known === name).length, 1);
  }
});

test('an operation that ends in an error', async () => {
  await fault({action: 'Instances.bulkInsert', kind: 'operation_error', code: 'INTERNAL_ERROR', message: 'it broke'});
  const begun = await insert('n-1');
  const {data} = await compute.zoneOperations.wait({...here, operation: begun.data.name});
  assert.equal(data.status, 'DONE');
  assert.deepEqual(data.error.errors.map(error => [error.code, error.message]), [['INTERNAL_ERROR', 'it broke']]);
  assert.deepEqual(await names(), []);
});

test('a field that is missing in the reply', async () => {
  await insert('n-1');
  await fault({action: 'Instances.list', kind: 'missing_field', field: 'networkInterfaces'});
  assert.equal((await compute.instances.list(here)).data.items[0].networkInterfaces, undefined);
  assert.equal((await compute.instances.list(here)).data.items[0].networkInterfaces.length, 1);
});

test('a zone that cannot be reached', async () => {
  await sim.knobs({unreachable: ['us-central1-b']});
  await refused(503, 'backendError', compute.instances.aggregatedList({project}));
  const {data} = await compute.instances.aggregatedList({project, returnPartialSuccess: true});
  assert.equal(data.items['zones/us-central1-b'].warning.code, 'UNREACHABLE');
  assert.deepEqual(data.unreachables, ['zones/us-central1-b']);
});

test('machines that Google ends', async () => {
  const requestBody = {
    count: '2',
    sourceInstanceTemplate: 'global/instanceTemplates/template-name',
    perInstanceProperties: {'spot-1': {}, 'spot-2': {}},
    instanceProperties: {scheduling: {provisioningModel: 'SPOT', instanceTerminationAction: 'DELETE'}},
  };
  await compute.instances.bulkInsert({...here, requestBody});
  await sim.control('POST', '/gce/instances/spot-1', {action: 'preempt'});
  await waitUntil(async () => (await names()).join() === 'spot-2');
  await refused(404, 'notFound', compute.instances.get({...here, instance: 'spot-1'}));
  const filter = 'operationType = compute.instances.preempted';
  const {data} = await compute.zoneOperations.list({...here, filter});
  assert.match(data.items[0].targetLink, /\/instances\/spot-1$/);
});

test('faults of the token endpoint and the metadata server', async () => {
  await fault({action: 'oauth2.token', kind: 'error', status: 500, count: -1});
  await assert.rejects((await sim.serviceAccount()).getAccessToken());
  await sim.control('DELETE', '/faults');
  assert((await (await sim.serviceAccount()).getAccessToken()).startsWith('ya29.'));
  await fault({action: 'gce.metadata', kind: 'error', status: 503});
  const get = () => sim.http('GET', '/computeMetadata/v1/instance/name', {headers: {'Metadata-Flavor': 'Google'}});
  assert.equal((await get()).status, 503);
  assert.equal((await get()).body, 'head');
});
