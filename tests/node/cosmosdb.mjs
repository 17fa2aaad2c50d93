// The Cosmos DB server of npm with our certificate: node cosmosdb.mjs PORT CERT_FILE KEY_FILE. Its own
// command offers a certificate that has expired, and closes every connection.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const { createHttpsServer } = createRequire(import.meta.url)('@vercel/cosmosdb-server');
const [port, certFile, keyFile] = process.argv.slice(2);
createHttpsServer({ cert: readFileSync(certFile), key: readFileSync(keyFile), keepAlive: true })
  .listen(Number(port), '127.0.0.1', () => console.log(`listens on ${port}`));
