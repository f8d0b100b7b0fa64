import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openAccounts } from '../../src/accounts/index.ts'
import { connect } from '../../src/delivery/ledger/file.ts'
import { makeStoreFolder, storeFile } from '../../src/engine/files.ts'
import { openForWriting } from '../../src/engine/open.ts'
import { storeAbiFiles } from '../../src/ingest/decoding/abi-files.ts'
import { collectAtMost, readAtMost } from '../../src/lib/files.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { lockDataFolder } from '../../src/sqlite/lock.ts'

const root = mkdtempSync(join(tmpdir(), 'chainsieve-private-'))
after(() => rmSync(root, { recursive: true }))
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

/** Has everything made that a data folder holds; what makes it looks at it while it is open. */
const fill = (data: string, look: () => void) => {
  const lock = lockDataFolder(data, 'test')
  makeStoreFolder(data)
  const db = openForWriting(storeFile(data, 'a/b/c'))
  const accounts = openAccounts(data)
  accounts.createToken('alice')
  const deliveries = connect(data, undefined)
  const abi = join(root, 'abi.txt')
  writeFileSync(abi, 'event Moved(uint256 value)')
  storeAbiFiles(join(data, 'abis'), [abi], { network: null, address: null })
  look()
  deliveries.close()
  accounts.close()
  db.close()
  lock.release()
}

const FILES = [
  ...['', '-wal', '-shm', '-sums'].map(suffix => `networks/a~b~c.sqlite${suffix}`),
  ...['', '-wal', '-shm'].map(suffix => `accounts.sqlite${suffix}`),
  ...['', '-wal', '-shm'].map(suffix => `deliveries.sqlite${suffix}`),
  ...['lock.sqlite', 'lock.json'],
]

test('what is kept is for its user alone, whatever the umask and whoever makes it first', () => {
  for (const umask of [0, 0o22, 0o277]) {
    const data = join(root, `data-${umask}`)
    const before = process.umask(umask)
    try {
      fill(data, () => {
        for (const name of FILES) assert.equal(modeOf(join(data, name)), '600', name)
        for (const name of ['', 'networks', 'abis']) assert.equal(modeOf(join(data, name)), '700', name)
      })
    } finally {
      process.umask(before)
    }
  }
})

test('files that others may read are taken from them; a folder that was there keeps its mode', () => {
  const data = join(root, 'old')
  mkdirSync(data)
  fill(data, () => {})
  chmodSync(data, 0o750)
  for (const name of FILES.filter(name => !/-(wal|shm)$/.test(name))) chmodSync(join(data, name), 0o644)
  fill(data, () => {
    for (const name of FILES) assert.equal(modeOf(join(data, name)), '600', name)
    assert.equal(modeOf(data), '750')
  })
})

test('no more is read than may be, also of what has no end', async () => {
  const file = join(root, 'file')
  writeFileSync(file, 'x'.repeat(3_000_000))
  assert.deepEqual(readAtMost(file, 3_000_000), readFileSync(file))
  assert.equal(readAtMost(file, 2_999_999), undefined)
  assert.equal(readAtMost('/dev/zero', 10_000_000), undefined)
  assert.throws(() => readAtMost(root, 10), { code: 'EISDIR' })
  assert.throws(() => storeAbiFiles(join(root, 'abis'), ['/dev/zero'], { network: null, address: null }, few), {
    next: 'refuse',
    code: 'bad_abi',
    message: /^\/dev\/zero has more than 5MB of text\..* --limit abiFile=N\.$/,
  })

  let given = 0
  async function* endless() {
    for (;;) {
      given++
      yield Buffer.alloc(1000)
    }
  }
  assert.equal(await collectAtMost(endless(), 4_500), undefined)
  assert.equal(given, 5)
  async function* texts() {
    yield 'a'
    yield Buffer.from('b')
  }
  assert.equal(String(await collectAtMost(texts(), 2)), 'ab')
})

const few = { ...DEFAULT_LIMITS, abiFile: 5e6 }
