// An issuer of tokens: publishes the keys that jose made (JWKS) and signs with them in turn. Usage: issuer.mjs CLAIMS;
// prints one line {"issuer", "jwks_uri", "token_endpoint"} and serves until it is killed.
import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

const claims = JSON.parse(process.argv[2]);
const keys = [];
for (const alg of ['RS256', 'ES256']) keys.push({ alg, kid: `issuer-${alg}`, ...(await generateKeyPair(alg)) });
const published = { keys: [] };
for (const { alg, kid, publicKey } of keys) published.keys.push({ ...(await exportJWK(publicKey)), alg, kid, use: 'sig' });

let turn = 0;
async function newToken() {
  const { alg, kid, privateKey } = keys[turn++ % keys.length];
  const token = new SignJWT(claims).setProtectedHeader({ alg, kid }).setIssuer(issuer).setIssuedAt().setExpirationTime('1h');
  return { access_token: await token.sign(privateKey), token_type: 'Bearer', expires_in: 3600 };
}
const server = createServer(async (request, response) => {
  const body = JSON.stringify(request.url === '/jwks' ? published : await newToken());
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(body);
});
await new Promise((listens) => server.listen(0, '127.0.0.1', listens));
const issuer = `http://127.0.0.1:${server.address().port}`;
console.log(JSON.stringify({ issuer, jwks_uri: `${issuer}/jwks`, token_endpoint: `${issuer}/token` }));
