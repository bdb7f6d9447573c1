// SPDX-License-Identifier: Apache-2.0
// Google's own authentication library gets its tokens from cloudsim, in every way that it knows.
'use strict';
const assert = require('node:assert/strict');
const {generateKeyPairSync} = require('node:crypto');
const fs = require('node:fs');
const http = require('node:http');
const {after, before, beforeEach, test} = require('node:test');
const {ExternalAccountClient, GoogleAuth, Impersonated, UserRefreshClient} = require('google-auth-library');
const {PROJECT, SCOPE, Simulator, ZONE, refused, transporterTo} = require('./simulator');

const AUDIENCE = '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/one';
const RUNNER = 'runner@cloudsim-project.iam.gserviceaccount.com';
let sim;

before(async () => {
  sim = await Simulator.start();
  process.env.CLOUDSDK_CONFIG = sim.path('no-gcloud');
  delete process.env.GOOGLE_APPLICATION_CREDENTIALS;
});
after(() => sim.stop());
beforeEach(() => sim.control('POST', '/reset'));

async function zoneName(auth) {
  return (await sim.compute(auth).zones.get({project: PROJECT, zone: ZONE})).data.name;
}

function externalAccount(changes) {
  return ExternalAccountClient.fromJSON({
    type: 'external_account',
    audience: AUDIENCE,
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: sim.url + '/v1/token',
    scopes: [SCOPE],
    ...changes,
  });
}

test('a service account key gives a token that the API takes', async () => {
  assert.equal(await zoneName(await sim.serviceAccount()), ZONE);
});

test('another key, or another account, gives none', async () => {
  const {privateKey} = generateKeyPairSync('rsa', {modulusLength: 2048});
  const pem = privateKey.export({type: 'pkcs8', format: 'pem'});
  const {private_key_id: id} = await sim.control('GET', '/gce/service_account_key');
  await assert.rejects(zoneName(await sim.serviceAccount({private_key: pem, private_key_id: id})),
      /Invalid JWT Signature/);
  await assert.rejects(zoneName(await sim.serviceAccount({client_email: RUNNER})), /account not found/);
});

test('a call without credentials is refused, and so is one with a token that cloudsim did not give out', async () => {
  const error = await refused(401, 'required', sim.compute().zones.get({project: PROJECT, zone: ZONE}));
  assert.equal(error.status, 'UNAUTHENTICATED');
  const target = `/compute/v1/projects/${PROJECT}/zones/${ZONE}`;
  const {status, body} = await sim.http('GET', target, {headers: {authorization: 'Bearer ya29.guess'}});
  assert.equal(status, 401);
  assert.equal(body.error.errors[0].reason, 'authError');
});

test('an expired token is refused, and the next one taken', async () => {
  const auth = await sim.serviceAccount();
  assert.equal(await zoneName(auth), ZONE);
  await sim.control('POST', '/gce/tokens/expire');
  await refused(401, 'authError', zoneName(auth));
  assert.equal(await zoneName(await sim.serviceAccount()), ZONE);
});

test('the metadata server gives project and token to default credentials', async () => {
  process.env.GCE_METADATA_HOST = sim.host;
  try {
    const auth = new GoogleAuth({scopes: [SCOPE]});
    assert.equal(await auth.getProjectId(), PROJECT);
    assert.equal(await zoneName(auth), ZONE);
    assert.equal((await auth.getCredentials()).client_email, 'cloudsim@cloudsim-project.iam.gserviceaccount.com');
  } finally {
    delete process.env.GCE_METADATA_HOST;
  }
});

test('the metadata server wants its header', async () => {
  const item = '/computeMetadata/v1/instance/zone';
  assert.equal((await sim.http('GET', item)).status, 403);
  const {status, headers, body} = await sim.http('GET', item, {headers: {'Metadata-Flavor': 'Google'}});
  assert.equal(status, 200);
  assert.equal(headers.get('metadata-flavor'), 'Google');
  assert.match(body, /^projects\/\d+\/zones\/us-central1-/);
});

test('a refresh token gives a token, to the right client', async () => {
  const transporter = transporterTo(sim.url, 'oauth2.googleapis.com');
  const user = {clientId: 'cloudsim.apps.googleusercontent.com', clientSecret: 'cloudsim-client-secret', transporter};
  const auth = refreshToken => new UserRefreshClient({...user, refreshToken});
  assert.equal(await zoneName(auth('1//cloudsim-refresh-token')), ZONE);
  await assert.rejects(zoneName(auth('1//another')), /invalid_grant/);
});

test('workload identity federation: a token from a file', async () => {
  const file = sim.path('subject-token');
  fs.writeFileSync(file, 'cloudsim-subject-token');
  assert.equal(await zoneName(externalAccount({credential_source: {file}})), ZONE);
  fs.writeFileSync(file, 'another-token');
  await assert.rejects(zoneName(externalAccount({credential_source: {file}})), /invalid_grant/);
});

test('workload identity federation: a token from a URL', async () => {
  const server = http.createServer((_, reply) => {
    reply.setHeader('content-type', 'application/json');
    reply.end('{"id_token": "cloudsim-subject-token"}');
  });
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
  try {
    const source = {
      url: `http://127.0.0.1:${server.address().port}/`,
      format: {type: 'json', subject_token_field_name: 'id_token'},
    };
    assert.equal(await zoneName(externalAccount({credential_source: source})), ZONE);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test('workload identity federation: a signed request to AWS', async () => {
  const source = {
    environment_id: 'aws1',
    regional_cred_verification_url: 'https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15',
  };
  const aws = {subject_token_type: 'urn:ietf:params:aws:token-type:aws4_request', credential_source: source};
  Object.assign(process.env, {AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'AKIACLOUDSIM00000001'});
  try {
    process.env.AWS_SECRET_ACCESS_KEY = 'cloudsim-secret-key';
    assert.equal(await zoneName(externalAccount(aws)), ZONE);
    process.env.AWS_SECRET_ACCESS_KEY = 'another-key';
    await assert.rejects(zoneName(externalAccount(aws)), /invalid_grant/);
    const {body} = await sim.http('GET', '/container-credentials');
    const {AccessKeyId, SecretAccessKey, Token} = typeof body === 'string' ? JSON.parse(body) : body;
    process.env.AWS_ACCESS_KEY_ID = AccessKeyId;
    process.env.AWS_SECRET_ACCESS_KEY = SecretAccessKey;
    await assert.rejects(zoneName(externalAccount(aws)), /invalid_grant/);
    process.env.AWS_SESSION_TOKEN = Token;
    assert.equal(await zoneName(externalAccount(aws)), ZONE);
  } finally {
    for (const name of ['REGION', 'ACCESS_KEY_ID', 'SECRET_ACCESS_KEY', 'SESSION_TOKEN']) delete process.env['AWS_' + name];
  }
});

test('federation with impersonation, and impersonation by a service account', async () => {
  const file = sim.path('subject-token');
  fs.writeFileSync(file, 'cloudsim-subject-token');
  const url = `${sim.url}/v1/projects/-/serviceAccounts/${RUNNER}:generateAccessToken`;
  const federated = externalAccount({credential_source: {file}, service_account_impersonation_url: url});
  assert.equal(await zoneName(federated), ZONE);
  const sourceClient = await (await sim.serviceAccount()).getClient();
  const impersonated = () => new Impersonated(
      {sourceClient, targetPrincipal: RUNNER, targetScopes: [SCOPE], lifetime: 600, endpoint: sim.url});
  assert.equal(await zoneName(impersonated()), ZONE);
  await sim.knobs({not_impersonable: [RUNNER]});
  await assert.rejects(zoneName(impersonated()), /iam.serviceAccounts.getAccessToken/);
});
