// SPDX-License-Identifier: Apache-2.0
// Flex start: regional managed instance groups and their resize requests, asked for with Google's own client.
'use strict';
const assert = require('node:assert/strict');
const {randomUUID} = require('node:crypto');
const {after, before, beforeEach, test} = require('node:test');
const {PROJECT: project, REGION: region, Simulator, ZONE: zone, refused, waitUntil} = require('./simulator');

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

const here = {project, region};
const group = {...here, instanceGroupManager: 'mig'};
const request = {...group, resizeRequest: 'r-1'};

async function done(begun) {
  const {data} = await compute.regionOperations.wait({...here, operation: begun.data.name});
  assert.equal(data.status, 'DONE');
  assert.equal(data.error, undefined, JSON.stringify(data.error));
  return data;
}

function groupBody(more = {}) {
  return {
    name: 'mig',
    description: 'cluster=c1;nodes=n-[1-2]',
    versions: [{instanceTemplate: 'global/instanceTemplates/flex-template'}],
    targetSize: 0,
    distributionPolicy: {zones: [{zone: `zones/${zone}`}, {zone: `zones/${region}-b`}], targetShape: 'ANY_SINGLE_ZONE'},
    updatePolicy: {type: 'OPPORTUNISTIC', instanceRedistributionType: 'NONE'},
    instanceLifecyclePolicy: {defaultActionOnFailure: 'DO_NOTHING'},
    ...more,
  };
}

async function insertGroup(more) {
  return done(await compute.regionInstanceGroupManagers.insert({...here, requestBody: groupBody(more)}));
}

function requestBody(more = {}) {
  return {
    name: 'r-1',
    instances: [{name: 'n-1'}, {name: 'n-2'}],
    requestedRunDuration: {seconds: '3600'},
    ...more,
  };
}

const insertRequest = more =>
  compute.regionInstanceGroupManagerResizeRequests.insert({...group, requestBody: requestBody(more)});
const readRequest = async () => (await compute.regionInstanceGroupManagerResizeRequests.get(request)).data;
const readGroup = async () => (await compute.regionInstanceGroupManagers.get(group)).data;
const inState = state => waitUntil(async () => {
  const read = await readRequest();
  return read.state === state && read;
});

async function managed() {
  return (await compute.regionInstanceGroupManagers.listManagedInstances(group)).data.managedInstances || [];
}

test('a group is made, read, listed and deleted', async () => {
  const operation = await insertGroup();
  assert.equal(operation.operationType, 'insert');
  const made = await readGroup();
  assert.equal(made.targetSize, 0);
  assert.equal(made.description, 'cluster=c1;nodes=n-[1-2]');
  assert.equal(made.distributionPolicy.targetShape, 'ANY_SINGLE_ZONE');
  assert.match(made.region, /\/regions\/us-central1$/);
  const list = await compute.regionInstanceGroupManagers.list({...here, filter: 'name = mig'});
  assert.deepEqual(list.data.items.map(item => item.name), ['mig']);
  await refused(409, 'alreadyExists', compute.regionInstanceGroupManagers.insert({...here, requestBody: groupBody()}));
  await done(await compute.regionInstanceGroupManagers.delete(group));
  await refused(404, 'notFound', compute.regionInstanceGroupManagers.get(group));
});

test('a resize request makes the machines that it names, for its time', async () => {
  await insertGroup();
  await done(await insertRequest());
  const request = await inState('SUCCEEDED');
  assert.deepEqual(request.instances.map(item => item.name), ['n-1', 'n-2']);
  assert.deepEqual(request.requestedRunDuration, {seconds: '3600'});
  const machines = await waitUntil(async () => {
    const all = await managed();
    return all.length === 2 && all.every(item => item.currentAction === 'NONE') && all;
  });
  assert.deepEqual(machines.map(item => item.name).sort(), ['n-1', 'n-2']);
  const zones = new Set(machines.map(item => item.instance.split('/').at(-3)));
  assert.equal(zones.size, 1);
  const {data} = await compute.instances.get({project, zone: [...zones][0], instance: 'n-1'});
  const creator = data.metadata.items.find(item => item.key === 'created-by').value;
  assert.match(creator, /regions\/us-central1\/instanceGroupManagers\/mig$/);
  const ends = Date.parse(data.resourceStatus.scheduling.terminationTimestamp);
  assert(Math.abs(ends - Date.now() - 3600e3) < 60e3, data.resourceStatus.scheduling.terminationTimestamp);
  assert.equal((await readGroup()).targetSize, 2);
  const list = await compute.regionInstanceGroupManagerResizeRequests.list(group);
  assert.deepEqual(list.data.items.map(item => item.name), ['r-1']);
});

test('a queued request waits, and can be cancelled, once', async () => {
  await sim.knobs({accepted_ms: null});
  await insertGroup();
  await done(await insertRequest());
  const queued = await inState('ACCEPTED');
  assert.equal(queued.status?.error, undefined);
  const waiting = await managed();
  assert.deepEqual(waiting.map(item => [item.name, item.currentAction]).sort(), [['n-1', 'CREATING'], ['n-2', 'CREATING']]);
  await done(await compute.regionInstanceGroupManagerResizeRequests.cancel(request));
  await inState('CANCELLED');
  await waitUntil(async () => (await managed()).length === 0);
  assert.deepEqual((await compute.instances.aggregatedList({project})).data.items[`zones/${zone}`].instances, undefined);
  await refused(400, 'invalid', compute.regionInstanceGroupManagerResizeRequests.cancel(request));
  await done(await compute.regionInstanceGroupManagerResizeRequests.delete(request));
  await refused(404, 'notFound', compute.regionInstanceGroupManagerResizeRequests.get(request));
});

test('an active request cannot be deleted', async () => {
  await sim.knobs({accepted_ms: null});
  await insertGroup();
  await done(await insertRequest());
  await refused(400, 'invalid', compute.regionInstanceGroupManagerResizeRequests.delete(request));
  await inState('ACCEPTED');
});

test('without machines in stock a request stays queued and says why', async () => {
  await sim.knobs({capacity: [{where: '*', type: '*', available: 0}], retry_ms: 10});
  await insertGroup();
  await done(await insertRequest());
  const queued = await waitUntil(async () => {
    const read = await readRequest();
    return read.status?.lastAttempt?.error && read;
  });
  assert.equal(queued.state, 'ACCEPTED');
  assert.match(queued.status.lastAttempt.error.errors[0].code, /ZONE_RESOURCE_POOL_EXHAUSTED/);
  await sim.knobs({capacity: []});
  await inState('SUCCEEDED');
});

test('machines leave their group by name', async () => {
  await insertGroup();
  await done(await insertRequest({instances: [{name: 'n-1'}, {name: 'n-10'}]}));
  await inState('SUCCEEDED');
  const [one] = (await managed()).filter(item => item.name === 'n-1');
  const instances = [`zones/${one.instance.split('/').at(-3)}/instances/n-1`];
  const body = {instances, skipInstancesOnValidationError: true};
  await done(await compute.regionInstanceGroupManagers.deleteInstances({...group, requestBody: body}));
  await waitUntil(async () => (await managed()).map(item => item.name).join() === 'n-10');
  assert.equal((await readGroup()).targetSize, 1);
});

test('a request is refused as Google refuses it', async () => {
  await insertGroup();
  for (const seconds of ['0', '30', '599', '604801']) {
    const error = await refused(400, 'invalid', insertRequest({requestedRunDuration: {seconds}}));
    assert.match(error.message, /600/, error.message);
  }
  await refused(400, 'invalid', insertRequest({resizeBy: 2}));
  await refused(400, 'invalid', insertRequest({instances: [{name: 'n-1'}, {name: 'n-1'}]}));
  await refused(400, 'invalid', insertRequest({name: 'Not_A_Name'}));
  await refused(404, 'notFound', compute.regionInstanceGroupManagerResizeRequests.insert(
      {...here, instanceGroupManager: 'nobody', requestBody: requestBody()}));
  assert.deepEqual(await managed(), []);
  await done(await insertRequest({requestedRunDuration: {seconds: '600'}}));
  await refused(409, 'alreadyExists', insertRequest({instances: [{name: 'n-3'}]}));
});

test('a group is refused as Google refuses it', async () => {
  const insert = more => compute.regionInstanceGroupManagers.insert({...here, requestBody: groupBody(more)});
  await refused(400, 'invalid', insert({distributionPolicy: {zones: [{zone: 'zones/europe-west4-a'}]}}));
  await refused(400, 'invalid', insert({name: 'UPPER'}));
  await refused(404, 'notFound', insert({versions: [{instanceTemplate: 'global/instanceTemplates/nobody'}]}));
  await refused(404, 'notFound', compute.regionInstanceGroupManagers.get(group));
});

test('the same requestId makes one group and one request', async () => {
  const requestId = randomUUID();
  const insert = () => compute.regionInstanceGroupManagers.insert({...here, requestId, requestBody: groupBody()});
  const first = await insert();
  assert.equal((await insert()).data.name, first.data.name);
  await done(first);
  assert.equal((await compute.regionInstanceGroupManagers.list(here)).data.items.length, 1);
});

test('deleting a group ends its machines', async () => {
  await insertGroup();
  await done(await insertRequest());
  await inState('SUCCEEDED');
  await done(await compute.regionInstanceGroupManagers.delete(group));
  const {items} = (await compute.instances.aggregatedList({project})).data;
  assert.deepEqual(Object.values(items).flatMap(scope => scope.instances || []), []);
});
