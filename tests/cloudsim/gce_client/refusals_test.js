// SPDX-License-Identifier: Apache-2.0
// Calls that Google refuses before it looks at anything: names and types that its description has not got.
'use strict';
const assert = require('node:assert/strict');
const {after, before, test} = require('node:test');
const {PROJECT: project, REGION: region, Simulator, ZONE: zone, refused} = require('./simulator');

let sim;
let compute;

before(async () => {
  sim = await Simulator.start();
  compute = sim.compute(await sim.serviceAccount());
});
after(() => sim.stop());

const here = {project, zone};
const bulkInsert = requestBody => compute.instances.bulkInsert({...here, requestBody});

test('an unknown field', async () => {
  const error = await refused(400, 'invalid', bulkInsert({count: '1', instanceCount: '1'}));
  assert.equal(error.message,
      'Invalid JSON payload received. Unknown name "instanceCount" at \'resource\': Cannot find field.');
  assert.equal(error.status, 'INVALID_ARGUMENT');
  const nested = await refused(400, 'invalid', bulkInsert({instanceProperties: {disks: [{sizeGb: '10'}]}}));
  assert.match(nested.message, /Unknown name "sizeGb" at 'resource\.instance_properties\.disks\[0\]'/);
});

test('a value of the wrong type', async () => {
  const error = await refused(400, 'invalid', bulkInsert({count: 'many'}));
  assert.equal(error.message, 'Invalid value at \'resource.count\' (TYPE_INT64), "many"');
  await refused(400, 'invalid', bulkInsert({instanceProperties: {labels: {a: 1}}}));
  await refused(400, 'invalid', bulkInsert({instanceProperties: {tags: 'a'}}));
});

test('an unknown parameter', async () => {
  const error = await refused(400, 'invalid', compute.instances.list({...here, pageSize: 5}));
  assert.match(error.message, /Unknown name "pageSize": Cannot bind query parameter/);
});

test('a parameter of the wrong type', async () => {
  await refused(400, 'invalid', compute.instances.list({...here, maxResults: 'many'}));
});

test('a missing required parameter', async () => {
  const group = {project, region, instanceGroupManager: 'mig'};
  await assert.rejects(compute.regionInstanceGroupManagers.resize(group), /Missing required parameters: size/);
  const {credentials} = await compute.context._options.auth.getClient();
  const target = `/compute/v1/projects/${project}/regions/${region}/instanceGroupManagers/mig/resize`;
  const {status, body} =
      await sim.http('POST', target, {headers: {authorization: `Bearer ${credentials.access_token}`}});
  assert.equal(status, 400);
  assert.equal(body.error.errors[0].reason, 'required');
});

test('an unknown project, zone or region', async () => {
  await refused(404, 'notFound', compute.instances.list({project: 'nobody', zone}));
  await refused(404, 'notFound', compute.zones.get({project, zone: 'us-central9-a'}));
  await refused(400, 'invalid', compute.instances.list({project, zone: 'us-central9-a'}));
  await refused(400, 'invalid', compute.regionInstanceGroupManagers.list({project, region: 'us-central9'}));
});

test('a method that Compute Engine has and cloudsim has not', async () => {
  await assert.rejects(compute.instances.reset({...here, instance: 'n-1'}), thrown => thrown.response.status === 501);
});

test('a path that Compute Engine has not', async () => {
  await refused(404, 'notFound', compute.images.list({project}));
});
