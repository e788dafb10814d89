// A mailer whose memory is known, as far as V8 tells sizes: what each function keeps, ../truth.py. Three profiles
// (mailer.1.heapprofile …) by the inspector, each of what is live then; node --heap-prof writes one at the end.
'use strict';
const fs = require('fs');
const inspector = require('inspector');
const { EventEmitter } = require('events');

const queue = [];
const users = new Map();
const bus = new EventEmitter();
bus.setMaxListeners(0);
let templates, sink;
// Else all of it is garbage after the last step, and --heap-prof finds none of it at the end.
globalThis.mailer = { queue, users, bus, held: () => templates };

// Grows: an array of 50 numbers (8 bytes each) in each step.
function queueMail(i) { queue.push(new Array(50).fill(i + 0.5)); }
// Grows: an object in a map, of each step.
function trackUser(i) { users.set('user' + i, { id: i, seen: [i, i, i, i] }); }
// Held: an array of 131072 numbers, 1 MiB.
function loadTemplates() { templates = new Array(131072).fill(0.5); }
// Leaks: a listener that holds an array of 100 numbers, of each tenth step.
function watchMail(i) {
  const seen = new Array(100).fill(i + 0.25);
  bus.on('mail', () => seen[0]++);
}
// Churn.
function renderMail(i) {
  for (let k = 0; k < 20; k++) sink = new Array(64).fill(i + k + 0.75);
  return sink.length;
}

const STEPS = 3000;
const each = process.argv[2] === 'series';
let session;
function take(n) {
  session.post('HeapProfiler.getSamplingProfile', (err, { profile }) => {
    if (err) throw err;
    fs.writeFileSync(`mailer.${n}.heapprofile`, JSON.stringify(profile));
  });
}
function step(i) {
  for (; i < STEPS; i++) {
    queueMail(i);
    trackUser(i);
    renderMail(i);
    if (i % 10 === 0) watchMail(i);
    if ((i + 1) % (STEPS / 3) === 0 && each) {
      globalThis.gc && globalThis.gc();
      take((i + 1) / (STEPS / 3));
    }
    if (i % 10 === 9) return setTimeout(step, 5, i + 1);
  }
}
if (each) {
  session = new inspector.Session();
  session.connect();
  session.post('HeapProfiler.enable');
  session.post('HeapProfiler.startSampling', { samplingInterval: 256 });
}
loadTemplates();
step(0);
