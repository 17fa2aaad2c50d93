// graphile-worker's crontab: N items that are due each minute, from the full minute to the last one handled. It knows no
// seconds. Its own settings are those of graphile.mjs.

import { run, Logger, makeWorkerUtils } from 'graphile-worker';
import { options, pause } from './common.mjs';

const { url, count } = options(process.argv.slice(2));
const quiet = new Logger(() => () => {});
const utils = await makeWorkerUtils({ connectionString: url, logger: quiet });
await utils.migrate();
await utils.release();

const minute = () => Date.now() - Date.now() % 60000;
while (Date.now() - minute() > 45000) await pause(100);  // time to begin before the next one
const due = minute() + 60000;
const seen = new Set();
let last = due;
const crontab = Array.from({ length: Number(count) }, (_, i) => `* * * * * due ?id=job-${i} {"i":${i}}`).join('\n');
const runner = await run({
  preset: { worker: { connectionString: url, concurrentJobs: 24, maxPoolSize: 25, localQueue: { size: 500 },
                      completeJobBatchDelay: 0, failJobBatchDelay: 0, logger: quiet } },
  logger: quiet, noHandleSignals: true, crontab,
  taskList: { due: async (payload) => {
    if (seen.size < Number(count)) { seen.add(payload.i); last = Date.now(); }
  } },
});
while (seen.size < Number(count) && Date.now() < due + 120000) await pause(20);
console.log(JSON.stringify({ handled: seen.size, seconds: (last - due) / 1000 }));
await runner.stop();
process.exit(0);
