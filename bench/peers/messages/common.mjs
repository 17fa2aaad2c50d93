// What the three peers have in common. Each program is `node NAME.mjs MODE --option value …` with the modes
//
//   enqueue  --seconds S                 batches of 500, several in flight, for so long
//   process  --count N --processes P     everything that is there: N jobs that were put there before the clock starts
//   latency  --count N                   one job at a time on an idle system, enqueue to handler
//
// and prints one JSON object. A peer is an object of functions; see `main`.

import { fork } from 'node:child_process';

export const BATCH = 500;
const IN_FLIGHT = 4;

export function options(words = process.argv.slice(3)) {
  const found = {};
  for (let i = 0; i < words.length; i += 2) found[words[i].slice(2)] = words[i + 1];
  return found;
}

// CLOCK_MONOTONIC: the same in every process of the machine.
export const now = () => Number(process.hrtime.bigint()) / 1e9;
export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// Some 200 bytes of JSON.
export function payload(n) {
  return { order: n, customer: `customer-${n % 1000}`, note: 'x'.repeat(128), at: '2026-01-01T00:00:00.000Z' };
}
export const payloads = (from, count) => Array.from({ length: count }, (_, i) => payload(from + i));

// Runs `batch(from, count)` with several in flight until `more(sent)` is false; returns how many jobs were sent.
async function inFlight(batch, more) {
  let sent = 0;
  const loop = async () => {
    while (more(sent)) {
      const from = sent;
      sent += BATCH;
      await batch(from, BATCH);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, loop));
  return sent;
}

async function enqueue(peer, { seconds }) {
  await peer.prepare();
  await inFlight(peer.batch, (sent) => sent < 10 * BATCH);
  const begun = now();
  const jobs = await inFlight(peer.batch, () => now() - begun < Number(seconds));
  const took = now() - begun;
  const there = await peer.left();
  if (there !== jobs + 10 * BATCH) throw new Error(`${jobs} jobs were sent, ${there} are there`);
  return { jobs, seconds: took, rate: jobs / took };
}

// The clock runs from the first job that a handler saw until none is left in the store.
async function processAll(peer, { count, processes }) {
  await peer.prepare();
  const jobs = await inFlight(peer.batch, (sent) => sent < Number(count));
  await peer.settle?.();
  let handled = 0;
  let begun = Infinity;
  const workers = Array.from({ length: Number(processes) }, () => fork(process.argv[1], ['work', ...process.argv.slice(3)]));
  await new Promise((resolve, reject) => {
    for (const worker of workers) {
      worker.on('message', (told) => {
        begun = Math.min(begun, told.first);
        handled += told.handled;
        if (handled >= jobs) resolve();
      });
      worker.on('exit', (code) => code && reject(new Error(`a worker ended with ${code}`)));
    }
  });
  while (await peer.left()) await pause(2);
  const took = now() - begun;
  for (const worker of workers) worker.disconnect();
  if (handled !== jobs) throw new Error(`${jobs} jobs, but ${handled} were handled`);
  return { jobs, seconds: took, rate: jobs / took };
}

// One process of those that handle jobs: tells its parent how many, a few times a second and at the end.
async function work(peer) {
  let first = 0;
  let handled = 0;
  const tell = () => {
    if (handled) process.send({ first, handled });
    handled = 0;
  };
  const ticker = setInterval(tell, 5);
  process.on('disconnect', () => process.exit(0));
  await peer.work((n) => {
    first ||= now();
    handled += n;
  });
  return ticker;
}

async function latency(peer, { count }) {
  await peer.prepare();
  let seen = null;
  await peer.work(() => seen?.(now()));
  await pause(1000);
  const times = [];
  for (let i = 0; i < Number(count); ++i) {
    const handled = new Promise((resolve) => { seen = resolve; });
    const begun = now();
    await peer.one(i);
    times.push((await handled - begun) * 1e6);
    await pause(20);
  }
  times.sort((a, b) => a - b);
  const at = (part) => Math.round(times[Math.floor((times.length - 1) * part)]);
  return { count: times.length, latency: { p50_us: at(0.5), p99_us: at(0.99), max_us: at(1) } };
}

// A peer: prepare() an empty queue; batch(from, count) enqueues; one(n) enqueues a single job; left() counts what is
// not finished; work(handled) handles jobs from now on, without end, and says how many; close().
export async function main(peer) {
  const mode = process.argv[2];
  if (mode === 'work') return void await work(peer);
  const found = await { enqueue, process: processAll, latency }[mode](peer, options());
  console.log(JSON.stringify({ ...found, settings: peer.settings }));
  process.exit(0);
}
