import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { differingQuestion, renumbered } from '../../scripts/bench/anew.ts'
import { makeTen } from '../../scripts/bench/beside/ten.ts'
import { writeReady } from '../../scripts/bench/cluster/imports.ts'
import { readOptions } from '../../scripts/bench/options.ts'
import type { Request } from '../../scripts/bench/queries.ts'
import type { Sample } from '../../scripts/bench/sample.ts'
import { createRandom } from '../../scripts/lib/random.ts'
import { DEFAULT_CLUSTER } from '../../src/cluster/connection/cluster.ts'
import { shownId, splitSource } from '../../src/cluster/indices/names.ts'
import { prepareSearch } from '../../src/cluster/query/search.ts'
import { DEFAULT_LIMITS } from '../../src/limits/index.ts'
import { KINDS, type Kind } from '../../src/mapping/index.ts'
import { parseSearch } from '../../src/query/parse.ts'
import { scenarioStore } from '../support/cluster-fill.ts'
import { documentsIn, keyOf, type Shipped } from '../support/ship.ts'

test('the loader is handed every document of a store as it is shipped', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'chainsieve-test-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const store = scenarioStore()
  t.after(store.close)
  const naming = { ...DEFAULT_CLUSTER, urls: [], prefix: 'bare' }
  const ready = await writeReady(store.path, { naming, network: 'a/b/c' }, join(folder, 'documents.bulk'))
  const lines = readFileSync(ready.path, 'utf8').trimEnd().split('\n')
  const found = new Map<string, Shipped>()
  const bytes = new Map<string, number>()
  for (let i = 0; i < lines.length; i += 2) {
    const { _id, _index, ...how } = JSON.parse(lines[i]!).index
    assert.deepEqual(how, { version: 1, version_type: 'external_gte' })
    const { source, meta } = splitSource(lines[i + 1]!)
    const kind = KINDS[meta.kind]!
    assert.match(_index, new RegExp(`^bare-a-b-c-${kind}-\\d{6}$`))
    const { block, position, routing, parent } = meta
    const document = { kind, id: shownId(_id), source, block, position, routing, parent }
    found.set(keyOf(document), document)
    bytes.set(kind, (bytes.get(kind) ?? 0) + Buffer.byteLength(lines[i + 1]!))
  }
  assert.deepEqual(found, documentsIn(store))
  for (const kind of KINDS) assert.equal(ready.kinds[kind].bytes, bytes.get(kind) ?? 0)
})

const hash = (digit: string) => `0x${digit.repeat(64)}`
const address = (digit: string) => `0x${digit.repeat(40)}`
const SAMPLE: Sample = {
  ...{ first: 0, last: 1_000, blocks: [{ number: 7, hash: hash('a') }], txs: [hash('b')], parents: [hash('c')] },
  ...{
    parties: new Map([[address('1'), 3]]),
    emitters: new Map([[address('2'), 2]]),
    names: new Map([['Transfer', 9]]),
  },
  ...{ pairs: new Map([[`Transfer | ${address('2')}`, 2]]), args: new Map([[`to | ${address('3')} | Transfer`, 1]]) },
  ...{ numbers: [1, 5, 9], gas: [21_000] },
}

test('each question can be asked as another one each time, of our server and of the cluster', async () => {
  const random = createRandom()
  random.seek(1, 2, 3, 4)
  const looking = { visible: { hidden: [] }, ask: async () => ({}) }
  for (const { name, requests } of makeTen(SAMPLE, random).map(differingQuestion)) {
    const [{ entities, body } = {} as Request] = requests
    const asked = parseSearch(body, entities.split(',') as Kind[], 0, { limits: DEFAULT_LIMITS })
    const compiled = JSON.stringify((await prepareSearch(asked, looking)).body)
    for (const text of [body!, compiled]) {
      const [first, second] = [text, text].map(one => renumbered(Buffer.from(one)).toString())
      assert.notEqual(first, second, name)
      assert.equal(first!.length, text.length)
      assert.deepEqual(Object.keys(JSON.parse(second!)), Object.keys(JSON.parse(text)))
    }
  }
  assert.throws(() => renumbered(Buffer.from('{}')), /no place/)
})

test('a cluster has to be named', () => {
  assert.throws(() => readOptions(['--store', 'opensearch']), /--against URL/)
  assert.throws(() => readOptions(['--store', 'mysql']), /sqlite or opensearch/)
})

test('imports alone are measured over a cluster', () => {
  const over = ['--store', 'opensearch', '--against', 'http://127.0.0.1:1']
  const read = (...args: string[]) => readOptions([...args, '--program', fileURLToPath(import.meta.url)])!.options.only
  assert.deepEqual([read(...over), read(...over, '--only', 'import')], [undefined, 'import'])
  assert.throws(() => read(...over, '--only', 'searches'), /--only takes import/)
  assert.throws(() => read('--only', 'import'), /--only takes import/)
})
