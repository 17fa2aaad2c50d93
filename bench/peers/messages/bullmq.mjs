// BullMQ on a Redis that syncs every write: addBulk, one worker with many jobs at a time, finished jobs removed.

import IORedis from 'ioredis';
import { Queue, Worker } from 'bullmq';
import { BATCH, main, options, payload, payloads } from './common.mjs';

const { port, concurrency = '300' } = options();
const connection = new IORedis(Number(port), '127.0.0.1', { maxRetriesPerRequest: null });
const QUEUE = 'notes';
const queue = new Queue(QUEUE, { connection, defaultJobOptions: { removeOnComplete: true } });

const peer = {
  settings: `addBulk of ${BATCH}, concurrency ${concurrency}, removeOnComplete`,

  async prepare() { await queue.waitUntilReady(); },
  async batch(from, count) {
    await queue.addBulk(payloads(from, count).map((data) => ({ name: 'note', data })));
  },
  async one(n) { await queue.add('note', payload(n)); },
  async left() {
    const counts = await queue.getJobCounts('waiting', 'active', 'delayed', 'prioritized');
    return Object.values(counts).reduce((sum, n) => sum + n, 0);
  },
  async work(handled) {
    const worker = new Worker(QUEUE, async () => handled(1), { connection, concurrency: Number(concurrency) });
    worker.on('error', (error) => { throw error; });
    await worker.waitUntilReady();
  },
};

await main(peer);
