// SPDX-License-Identifier: Apache-2.0
// Starts cloudsim for a test and speaks to it through Google's own client and its control API.
'use strict';
const assert = require('node:assert/strict');
const {spawn} = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const {compute_v1: computeV1} = require('@googleapis/compute');
const {GoogleAuth, gaxios} = require('google-auth-library');
const {replyComplaints} = require('./reply_shape');

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const PROJECT = 'cloudsim-project';
const ZONE = 'us-central1-a';
const REGION = 'us-central1';

/** Asks again and again, as one who watches from outside must; gives the first true value, or fails. */
async function waitUntil(condition, seconds = 20) {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const value = await condition();
    if (value) return value;
    assert(Date.now() < deadline, `it did not become true in ${seconds} seconds`);
    await new Promise(resolve => setTimeout(resolve, 5));
  }
}

/**
 * For Google's clients: what they send to `host` goes to cloudsim (some of their URLs can't be set), and what Compute
 * Engine replies must have the right form.
 */
function transporterTo(url, host) {
  const transporter = new gaxios.Gaxios();
  transporter.interceptors.response.add({
    resolved: async reply => {
      const {method = 'GET', url: asked} = reply.config;
      if (reply.ok && String(asked).includes('/compute/v1/')) {
        assert.deepEqual(replyComplaints(method, asked, reply.data), []);
      }
      return reply;
    },
  });
  transporter.interceptors.request.add({
    resolved: async options => {
      const wanted = new URL(options.url);
      if (wanted.host === host) options.url = new URL(wanted.pathname + wanted.search, url);
      return options;
    },
  });
  return transporter;
}

class Simulator {
  static async start(...options) {
    const sim = new Simulator();
    sim.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'cloudsim-client-'));
    const portFile = sim.path('port');
    sim.process = spawn(process.env.CLOUDSIM, ['--port-file', portFile, '--seed', '7', ...options],
        {stdio: ['ignore', 'ignore', 'inherit']});
    sim.ended = new Promise(resolve => sim.process.on('exit', resolve));
    await waitUntil(() => fs.existsSync(portFile) || sim.process.exitCode !== null);
    sim.host = `127.0.0.1:${fs.readFileSync(portFile, 'utf8').trim()}`;
    sim.url = `http://${sim.host}`;
    return sim;
  }

  path(name) {
    return path.join(this.folder, name);
  }

  async stop() {
    this.process.kill('SIGTERM');
    assert.equal(await this.ended, 0, 'cloudsim ended with an error');
    fs.rmSync(this.folder, {recursive: true});
  }

  /** A plain request: {status, body}, the body parsed where it is JSON. */
  async http(method, target, {body, headers} = {}) {
    const reply = await fetch(this.url + target, {method, headers, body, redirect: 'manual'});
    const text = await reply.text();
    const json = (reply.headers.get('content-type') || '').startsWith('application/json');
    return {status: reply.status, body: json ? JSON.parse(text) : text, headers: reply.headers};
  }

  async control(method, target, body) {
    const reply = await this.http(method, '/_control' + target, {body: body && JSON.stringify(body)});
    assert.equal(reply.status, 200, `${method} ${target}: ${JSON.stringify(reply.body)}`);
    return reply.body;
  }

  knobs(gce) {
    return this.control('POST', '/knobs', {gce});
  }

  /** Credentials of cloudsim's service account, from a key file as Google gives them out. */
  async serviceAccount(changes = {}) {
    const keyFile = this.path(`key-${Math.random()}.json`);
    fs.writeFileSync(keyFile, JSON.stringify({...await this.control('GET', '/gce/service_account_key'), ...changes}));
    return new GoogleAuth(
        {keyFile, scopes: [SCOPE], clientOptions: {transporter: transporterTo(this.url, 'oauth2.googleapis.com')}});
  }

  /** Google's client, which asks cloudsim and does not ask twice. */
  compute(auth) {
    return new computeV1.Compute({auth, rootUrl: this.url + '/', retry: false});
  }
}

/** The call must be refused in this way; gives the error object of the answer. */
async function refused(status, reason, call) {
  try {
    await call;
  } catch (thrown) {
    assert.equal(thrown.response?.status, status, thrown.message);
    const {error} = thrown.response.data;
    assert.equal(error.code, status);
    assert.equal(error.errors[0].reason, reason, error.message);
    assert.equal(error.errors[0].message, error.message);
    return error;
  }
  return assert.fail('it was taken');
}

module.exports = {PROJECT, REGION, SCOPE, Simulator, ZONE, refused, transporterTo, waitUntil};
