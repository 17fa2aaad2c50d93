// pg-boss by its batch calls: insert, and fetch and complete of 500, in a few loops. Rates by these calls and not by
// work(), which waits between batches unless told; the idle latency by work() with LISTEN and NOTIFY.

import { PgBoss } from 'pg-boss';
import { BATCH, main, options, payload, payloads } from './common.mjs';

const { url, concurrency = '4' } = options();
const QUEUE = 'notes';
const byWork = process.argv[2] === 'latency';
const boss = new PgBoss({ connectionString: url, max: 8, supervise: false, schedule: false,
                          useListenNotify: byWork });
boss.on('error', (error) => { throw error; });

const peer = {
  settings: `insert, fetch and complete of ${BATCH}, ${concurrency} loops in a process`,

  async prepare() {
    await boss.start();
    await boss.createQueue(QUEUE, { notify: byWork });
  },
  async batch(from, count) {
    await boss.insert(QUEUE, payloads(from, count).map((data) => ({ data })));
  },
  async one(n) { await boss.send(QUEUE, payload(n)); },
  async left() {
    const { rows } = await boss.getDb().executeSql(
      `select count(*)::int as n from pgboss.job where name = '${QUEUE}' and state < 'completed'`);
    return rows[0].n;
  },
  async settle() { await boss.getDb().executeSql('vacuum analyze pgboss.job'); },
  async work(handled) {
    if (byWork) return void await boss.work(QUEUE, { batchSize: BATCH }, async (jobs) => handled(jobs.length));
    await boss.start();
    const loop = async () => {
      while (true) {
        const jobs = await boss.fetch(QUEUE, { batchSize: BATCH });
        if (!jobs.length) return;
        handled(jobs.length);
        await boss.complete(QUEUE, jobs.map((job) => job.id));
      }
    };
    for (let i = 0; i < Number(concurrency); ++i) loop();
  },
};

await main(peer);
