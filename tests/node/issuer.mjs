// An issuer of tokens as others write them (oauth2-mock-server): discovery, JWKS, client credentials. Usage:
// issuer.mjs CLAIMS; prints one line {"issuer", "jwks_uri", "token_endpoint"} and serves until it is killed.
import { OAuth2Server } from 'oauth2-mock-server';

const claims = JSON.parse(process.argv[2]);
const server = new OAuth2Server();
await server.issuer.keys.generate('RS256');
await server.issuer.keys.generate('ES256');
server.service.on('beforeTokenSigning', (token) => Object.assign(token.payload, claims));
await server.start(0, '127.0.0.1');
const discovered = await fetch(`http://127.0.0.1:${server.address().port}/.well-known/openid-configuration`);
console.log(JSON.stringify(await discovered.json()));
