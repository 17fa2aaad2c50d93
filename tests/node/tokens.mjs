// Tokens made by jose. Usage: tokens.mjs ALGORITHM CLAIMS; prints {"key": a public JWK (a secret for HS256), "token"}.
import { exportJWK, generateKeyPair, generateSecret, SignJWT } from 'jose';

const [alg, claims] = process.argv.slice(2);
const kid = `jose-${alg}`;
const options = { crv: 'Ed25519', extractable: true };
const secret = alg === 'HS256' ? await generateSecret(alg, options) : undefined;
const { publicKey, privateKey } = secret ? { publicKey: secret, privateKey: secret } : await generateKeyPair(alg, options);
const token = await new SignJWT(JSON.parse(claims)).setProtectedHeader({ alg, kid, typ: 'at+jwt' }).sign(privateKey);
console.log(JSON.stringify({ key: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' }, token }));
