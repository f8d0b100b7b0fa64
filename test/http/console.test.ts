import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { buildConsole } from '../../scripts/console/build.ts'
import { appOf, TOKEN } from './support.ts'

const app = appOf({ console: true })
const get = (path: string, headers: Record<string, string> = {}) => app.request(path, { headers })
const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

before(async () => {
  await buildConsole('test')
})

test('a browser at / is led to the console, and everybody else gets what was there before', async () => {
  const led = await get('/', HTML)
  assert.deepEqual([led.status, led.headers.get('location')], [302, 'console/'])
  const authorization = `Bearer ${TOKEN}`
  for (const accept of ['*/*', 'application/json', 'text/plain'])
    assert.deepEqual(
      await (await get('/', { accept, authorization })).text(),
      await (await appOf().request('/', { headers: { authorization } })).text(),
    )
  assert.equal((await get('/')).status, 401)
})

test('without the console, nothing of it is there', async () => {
  const none = appOf()
  const authorization = `Bearer ${TOKEN}`
  assert.equal((await none.request('/console/', { headers: { ...HTML, authorization } })).status, 404)
  assert.equal((await none.request('/', { headers: { ...HTML, authorization } })).status, 200)
})

test('every address below it answers the page, whose links lead to the assets from there', async () => {
  for (const path of ['/console', '/console/', '/console/explore', '/console/a/b/c?x=1']) {
    const page = await get(path, HTML)
    assert.equal(page.status, 200)
    const policy = page.headers.get('content-security-policy')!
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/)
    const links = Array.from((await page.text()).matchAll(/(?:src|href)="([^":]+)"/g), ([, link]) => link!)
    assert.ok(links.length >= 2)
    for (const link of links) {
      const asset = await get(new URL(link, `http://host${path}`).pathname, { 'accept-encoding': 'gzip, br' })
      assert.equal(asset.status, 200, `${path} ${link}`)
      assert.equal(asset.headers.get('cache-control'), 'public, max-age=31536000, immutable')
    }
  }
  assert.equal((await get('/console/assets/none.js')).status, 404)
  assert.equal((await get(`/console${'/a'.repeat(50)}`)).status, 404)
  assert.equal((await app.request('/console/', { method: 'POST' })).status, 405)
})

test('assets come in the encoding that is asked for, and once', async () => {
  const [, script] = /src="([^"]+)"/.exec(await (await get('/console/')).text())!
  const path = `/console/${script}`
  const bytes = async (encoding: string) =>
    Buffer.from(await (await get(path, { 'accept-encoding': encoding })).arrayBuffer())
  const plain = await bytes('identity')
  assert.deepEqual(brotliDecompressSync(await bytes('br')), plain)
  assert.deepEqual(gunzipSync(await bytes('gzip')), plain)
  const etag = (await get(path)).headers.get('etag')!
  assert.equal((await get(path, { 'if-none-match': etag })).status, 304)
  const page = (await get('/console/')).headers.get('etag')!
  assert.equal((await get('/console/', { 'if-none-match': page })).status, 304)
})
