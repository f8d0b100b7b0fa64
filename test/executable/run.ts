import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { chromium } from 'playwright-core'
import { minimalRoot } from '../../scripts/executable/minimal-root.ts'
import { version } from '../../src/lib/runtime.ts'
import { CHROMIUM, skip as noChromium } from '../console/chromium.ts'
import { EXECUTABLE, emptyFolder, ended, insideRoot, type Place, run } from './places.ts'

/**
 * The executable as its users have it: alone. These tests need `npm run build:executable` first, and run by
 * `npm run test:executable`; what the commands mean is tested elsewhere, here they only have to run.
 */
const NETWORK = 'ethereum/demo/local'
const PACK = new URL('../../data/demo.ndjson.gz', import.meta.url)
const NEWEST = JSON.stringify({
  query: { bool: { filter: [{ term: { 'event.raw': 'Transfer' } }] } },
  sort: { 'blockNumber.num': 'desc' },
  size: 3,
})

describe('in an empty folder with an empty environment', () => {
  everything(emptyFolder)

  test('a NODE_OPTIONS that is meant for something else does no harm', async () => {
    const place = emptyFolder()
    const env = { NODE_OPTIONS: '--require ./not-there.js --no-such-option' }
    assert.deepEqual(await run(place, ['--version'], env), { code: 0, stdout: `${version}\n`, stderr: '' })
    place.remove()
  })

  test('serves the demo chain when it is given nothing', async () => {
    const place = emptyFolder()
    const port = await freePort()
    const server = place.start(['serve', '--port', String(port)])
    const printed = text(server.stdout!)
    await answering(server, port)
    const token = await newToken(place)
    assert.equal((await searchOver(port, token)).hits.hits.length, 3)
    assert.equal(copiesOfSqlite(server.pid!), 1)
    assert.equal((await run(place, ['health', '--port', String(port)])).code, 0)
    server.kill('SIGTERM')
    assert.equal(await ended(server), 0)
    assert.match(await printed, new RegExp(`http://127.0.0.1:${port}`))
    place.remove()
  })

  test('serves the console: sign-in, and one search', { skip: noChromium }, async () => {
    const place = emptyFolder()
    const port = await freePort()
    const server = place.start(['serve', '--port', String(port)])
    await answering(server, port)
    const browser = await chromium.launch({ executablePath: CHROMIUM!, args: ['--no-sandbox'] })
    try {
      const page = await browser.newPage()
      await page.goto(`http://127.0.0.1:${port}/console/explore?kinds=event&q=event:Swap`)
      await page.getByLabel('Token', { exact: true }).fill(await newToken(place))
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByText(/^[1-9]\d* hits in/).waitFor()
    } finally {
      await browser.close()
      server.kill('SIGTERM')
      await ended(server)
      place.remove()
    }
  })
})

const debian = minimalRoot()
const skip = 'unable' in debian ? `No minimal Debian could be made: ${debian.unable}` : false
if (skip) console.warn(skip)
const root = 'root' in debian ? debian.root : ''
const TEMPORARY = root === '' ? [] : ['tmp', 'var/tmp', 'dev/shm'].map(path => join(root, path))

describe('in a minimal Debian, as a user that it does not know', { skip }, () => {
  everything(() => insideRoot(root, 'mount -t proc proc "$root/proc"'))
})

describe('in a minimal Debian without /proc', { skip }, () => {
  // SQLite and sqlite-vec.
  everything(() => insideRoot(root, ''), 2)
})

describe('in a minimal Debian whose folders hold no programs', { skip }, () => {
  const noexec = (...paths: string[]) =>
    `mount -t proc proc "$root/proc"
    for path in ${paths.join(' ')}; do
      mkdir -p "$root$path"; mount --bind "$root$path" "$root$path"; mount -o remount,bind,noexec "$root$path"
    done`
  everything(() => insideRoot(root, noexec('$folder')))

  test('says which folders it has tried', async () => {
    const place = insideRoot(root, noexec('$folder', '/tmp', '/var/tmp', '/dev/shm'))
    const { code, stderr } = await run(place, ['token', 'create', '--account', 'test'])
    assert.equal(code, 1)
    assert.match(stderr, /\/tmp: .*failed to map segment.*; \/var\/tmp: .*failed to map segment/)
    assert.match(stderr, /needs one of these folders to be writable, without noexec/)
    place.remove()
  })
})

/** Import, search and serve; so many `copies` of native code are kept for the next start. */
function everything(make: () => Place, copies = 0) {
  let place: Place
  before(() => {
    for (const folder of TEMPORARY) removeStrays(folder)
    place = make()
    copyFileSync(PACK, join(place.folder, 'blocks.ndjson.gz'))
  })
  after(() => place?.remove())

  test('imports a block pack', async () => {
    const { code, stdout, stderr } = await run(place, ['import', '--json', '--network', NETWORK, 'blocks.ndjson.gz'])
    assert.equal(code, 0, stderr)
    const { network, blocks, logs, added, holes } = JSON.parse(stdout)
    assert.deepEqual(
      { network, blocks, logs, added, holes },
      { network: NETWORK, blocks: 421, logs: 2860, added: [{ from: 0, to: 420 }], holes: [] },
    )
  })

  test('serves what the shell finds', async () => {
    const shell = await run(place, ['search', NETWORK, 'event', NEWEST])
    assert.equal(shell.code, 0, shell.stderr)
    const found = JSON.parse(shell.stdout)
    assert.equal(found.hits.hits.length, 3)
    assert.equal(found.hits.hits[0]._source.event, 'Transfer')

    const token = await newToken(place)
    const port = await freePort()
    const server = place.start(['serve', '--port', String(port)])
    await answering(server, port)
    assert.deepEqual((await searchOver(port, token)).hits, found.hits)
    await asksForSimilar(port, token)
    server.kill('SIGTERM')
    assert.equal(await ended(server), 0)
  })

  test('leaves nothing behind but what it stored', () => {
    assert.deepEqual(readdirSync(place.folder).sort(), ['blocks.ndjson.gz', 'chainsieve-data'])
    const folders = [join(place.folder, 'chainsieve-data'), tmpdir(), '/tmp', '/var/tmp', '/dev/shm', ...TEMPORARY]
    const found = [...new Set(folders)].filter(existsSync).flatMap(strays)
    assert.equal(new Set(found).size, copies, found.join(' '))
  })
}

/** What the executable unfolded and did not take away. */
const strays = (folder: string) => readdirSync(folder).filter(name => name.startsWith('.chainsieve-'))

/** How many files with SQLite in them a process has loaded, all its threads together. */
const copiesOfSqlite = (pid: number): number => {
  const maps = readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')
  const inodes = maps.filter(line => line.includes('better_sqlite3')).map(line => line.split(/\s+/)[4])
  return new Set(inodes).size
}

const removeStrays = (folder: string) => {
  for (const name of strays(folder)) rmSync(join(folder, name), { recursive: true })
}

const newToken = async (place: Place): Promise<string> => {
  const { code, stdout, stderr } = await run(place, ['token', 'create', '--account', 'test'])
  assert.equal(code, 0, stderr)
  return stdout.trim()
}

/** Asks for contracts like one that was created: sqlite-vec answers. */
const asksForSimilar = async (port: number, token: string) => {
  const ask = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}/${NETWORK}/es/contract/${path}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    assert.equal(answer.status, 200, `${path}: ${await answer.clone().text()}`)
    return ((await answer.json()) as { hits: { hits: { _id: string; _score: number }[] } }).hits.hits
  }
  const [contract] = await ask('search/?size=1')
  const similar = await ask(`${contract!._id}/similar/`)
  assert.ok(similar.length > 0 && similar.every(({ _score }) => _score > 0 && _score <= 1))
}

const searchOver = async (port: number, token: string) => {
  const answer = await fetch(`http://127.0.0.1:${port}/${NETWORK}/es/event/search/`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: NEWEST,
  })
  assert.equal(answer.status, 200)
  return (await answer.json()) as { hits: { hits: unknown[] } }
}

/** Waits until the server answers; says why when it ended instead. */
const answering = async (server: ChildProcess, port: number) => {
  const complaint = text(server.stderr!)
  for (let i = 0; i < 300; i++) {
    if (server.exitCode !== null || server.signalCode !== null)
      throw new Error(`${EXECUTABLE} serve ended with ${server.exitCode ?? server.signalCode}: ${await complaint}`)
    const answer = await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined)
    if (answer?.ok) return
    await sleep(100)
  }
  server.kill('SIGKILL')
  throw new Error(`${EXECUTABLE} serve did not answer within 30 s: ${await complaint}`)
}

const freePort = () =>
  new Promise<number>(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
