// graphile-worker as its page on performance runs it: a local queue of 500, completions in batches; add_jobs from the
// client, without sending the jobs back.

import { makeWorkerUtils, run, Logger } from 'graphile-worker';
import pg from 'pg';
import { BATCH, main, options, payload, payloads } from './common.mjs';

// `session`: so many jobs have a named queue of their own, which runs one at a time. A local queue then fetches at most one job of
// each (since 0.18: graphile/worker#622), and then waits for `poll` ms, so what is fastest depends on the sessions. `local`: its
// length; 0: none.
const { url, concurrency = '24', session, local = String(BATCH), poll = '2000' } = options();
const pool = new pg.Pool({ connectionString: url, max: 8 });
const quiet = new Logger(() => () => {});
const ADD = `select count(*) from graphile_worker.add_jobs(
  array(select json_populate_recordset(null::graphile_worker.job_spec, $1::json)))`;

const peer = {
  settings: `concurrentJobs ${concurrency}, localQueue ${local},${session ? ' named queues,' : ''} pollInterval ${poll}, completeJobBatchDelay 0, add_jobs of ${BATCH}`,

  async prepare() {
    const utils = await makeWorkerUtils({ connectionString: url, logger: quiet });
    await utils.migrate();
    await utils.release();
  },
  async batch(from, count) {
    const jobs = payloads(from, count).map((one, i) => ({ identifier: 'note', payload: one,
      ...(session && { queue_name: `session-${Math.floor((from + i) / Number(session))}` }) }));
    await pool.query({ name: 'add', text: ADD, values: [JSON.stringify(jobs)] });
  },
  async one(n) {
    await pool.query({ name: 'one', text: 'select graphile_worker.add_job($1, $2::json)',
                       values: ['note', JSON.stringify(payload(n))] });
  },
  async left() {
    const { rows } = await pool.query('select count(*)::int as n from graphile_worker._private_jobs');
    return rows[0].n;
  },
  async settle() { await pool.query('vacuum analyze graphile_worker._private_jobs'); },
  async work(handled) {
    await run({
      preset: { worker: { connectionString: url, concurrentJobs: Number(concurrency),
                          maxPoolSize: Number(concurrency) + 1, ...(local !== '0' && { localQueue: { size: Number(local) } }),
                          completeJobBatchDelay: 0, failJobBatchDelay: 0, pollInterval: Number(poll), logger: quiet } },
      logger: quiet, noHandleSignals: true, parsedCronItems: [],
      taskList: { note: async () => handled(1) },
    });
  },
};

await main(peer);
