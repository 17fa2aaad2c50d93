// The outbox by node's pg: what sql_test.cpp does with libpq, by a client library that binds its
// parameters in its own way. Usage: outbox.mjs enqueue|acknowledge URL JSON; prints JSON.
import pg from 'pg';

const [action, url, text] = process.argv.slice(2);
const asked = JSON.parse(text);
const client = new pg.Client({ connectionString: url });
await client.connect();

async function inTransaction(end, work) {
  await client.query('begin');
  const result = await work();
  await client.query(end);
  return result;
}

async function enqueue() {
  const put = async () => {
    const { rows } = await client.query('select tenure.enqueue($1, $2, priority => $3, headers => $4) as id', [
      asked.topic, { text: 'ü"\\', list: [1, null] }, 1, { a: 'b' }]);
    return rows[0].id;
  };
  const kept = await inTransaction('commit', put);
  const lost = await inTransaction('rollback', put);
  const bytes = await client.query('select tenure.enqueue_bytes($1, $2) as id', [asked.topic, Buffer.from([0, 255])]);
  return { kept, lost, bytes: bytes.rows[0].id };
}

async function acknowledge() {
  const acknowledged = () => client.query('select tenure.acknowledge($1, $2, $3)', [asked.id, asked.fence, { ok: true }]);
  await inTransaction('rollback', acknowledged);
  await inTransaction('commit', acknowledged);
  return acknowledged().then(() => ({ again: 'accepted' }), (error) => ({ again: error.code }));
}

try {
  console.log(JSON.stringify(await { enqueue, acknowledge }[action]()));
} finally {
  await client.end();
}
