// pg-boss's schedules: N of them that are due each minute, from the full minute to the last one fetched. It knows no
// seconds, and looks at its schedules as often as it may.

import { PgBoss } from 'pg-boss';
import { options, pause } from './common.mjs';

const { url, count } = options(process.argv.slice(2));
const boss = new PgBoss({ connectionString: url, max: 8, supervise: false, cronMonitorIntervalSeconds: 1,
                          cronWorkerIntervalSeconds: 1 });
boss.on('error', (error) => { throw error; });
await boss.start();
await boss.createQueue('due');
for (let i = 0; i < Number(count); ++i) await boss.schedule('due', '* * * * *', { i }, { key: `job-${i}` });

const minute = () => Date.now() - Date.now() % 60000;
const seen = new Set();
let due = minute() + 60000;
let last = due;
const loop = async () => {
  while (seen.size < Number(count) && Date.now() < due + 120000) {
    const jobs = await boss.fetch('due', { batchSize: 500 });
    if (!jobs.length) { await pause(20); continue; }
    // What a minute before this one has left is no part of it.
    if (Date.now() >= due)
      for (const job of jobs) { seen.add(job.data.i); last = Date.now(); }
    await boss.complete('due', jobs.map((job) => job.id));
  }
};
await Promise.all(Array.from({ length: 4 }, loop));
console.log(JSON.stringify({ handled: seen.size, seconds: (last - due) / 1000 }));
await boss.stop({ graceful: false });
process.exit(0);
