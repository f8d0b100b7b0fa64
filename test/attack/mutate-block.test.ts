import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Mutation, mutations, randomMutations } from '../../scripts/attack/mutate-block.ts'
import { createRandom } from '../../scripts/lib/random.ts'
import { formatPackLine, parsePackLine } from '../../src/chain/files/pack.ts'
import type { RawBlock } from '../../src/chain/wire.ts'
import type { Document } from '../../src/documents/document.ts'
import { asBigint } from '../../src/documents/show.ts'
import { createBlockDocuments } from '../../src/engine/show/block-documents.ts'
import { ChainsieveError } from '../../src/lib/errors.ts'
import { KINDS, type Kind, MAPPING } from '../../src/mapping/index.ts'
import { type EntityValues, entitiesOf, entityValues } from '../../src/rules/entities.ts'
import { hasMainnet } from '../support/pack.ts'
import { fullBlock } from '../support/rich.ts'
import { createTestStore, decimalsOf, demoBlocks, excerptOf, mainnetBlocks, type TestStore } from '../support/store.ts'

// The documents of the honest block are the oracle: what is not refused differs from them at the member that was changed, and in what is
// derived from it, and nowhere else.

type All = Record<Kind, Document[]>

/** All that rules may read of an entity. */
const SOURCES = Object.fromEntries(
  KINDS.map(kind => [
    kind,
    Object.keys(MAPPING[kind].fields).flatMap(field =>
      [[], ['num'], ['raw'], ['coin']].map(rest => entityValues(kind, [field, ...rest], false)),
    ),
  ]),
) as Record<Kind, EntityValues[]>

/** What is told of a mutated block: its documents, or why it is refused. */
const tell = (store: TestStore, line: string): All | ChainsieveError => {
  let raw: RawBlock
  try {
    raw = parsePackLine({ path: 'pack', line: 1, bytes: new TextEncoder().encode(line), last: false })
  } catch (error) {
    if (error instanceof ChainsieveError) return error
    throw error
  }
  const decoded = store.preparer.decode(raw)
  const decimals = (address: string) => decimalsOf(raw.chainId ?? 1, `0x${address}`)
  const input = { ...decoded, decimals }
  const documents = createBlockDocuments(input, asBigint)
  for (const entity of entitiesOf({ ...input, documents }, new Set(KINDS)))
    for (const source of SOURCES[entity.kind]) {
      source.faces(entity)
      source.keys(entity)
    }
  store.add([raw])
  const all = Object.fromEntries(KINDS.map(kind => [kind, store.all(kind)])) as All
  store.rollback(-1)
  const sizes = { block: 1, tx: decoded.methods.length, log: decoded.logs.length, trace: decoded.traces.length }
  for (const [kind, size] of Object.entries(sizes)) {
    const built = Array.from({ length: size }, (_, i) => {
      const document = documents[kind as keyof typeof sizes](i)
      // The source is made on demand.
      return { ...document, _source: document._source }
    })
    assert.deepStrictEqual(built, all[kind as Kind])
  }
  return all
}

/** Members that documents of other kinds are derived from, too. */
const DERIVED = /\.(from|to|input|value|status|contractAddress|topics|data|address)\b|^traces/

/** The documents without what a mutation may have changed. */
const untouched = ({ path }: Pick<Mutation<RawBlock>, 'path'>, all: All): unknown => {
  const derived = DERIVED.test(path) ? ['call', 'contract', 'token'] : []
  if (/topics/.test(path)) derived.push('event')
  const kinds = KINDS.filter(kind => !derived.includes(kind) && !(kind === 'trace' && path.startsWith('traces')))
  const [, list, at, inner = ''] = /^(?:block\.)?(transactions|receipts)\[(\d+)\]\.?(.*)$/.exec(path) ?? []
  const member = (list === undefined ? path.replace(/^block\./, '') : inner).split(/[.[]/)[0]!
  const field = member === 'nonce' && list === undefined ? 'miningNonce' : member
  // The time of a block is in all documents.
  if (path === 'block.timestamp') return kinds.map(kind => all[kind].map(({ _id }) => _id))
  return kinds.map(kind =>
    all[kind].map((document, place) => {
      const isOwn = list === undefined ? kind === 'block' : kind === 'tx' && place === Number(at)
      const isLog = list === 'receipts' && member === 'logs' && (kind === 'log' || kind === 'event')
      if (isLog) return { ...document, _source: { ...document._source, ...LOG_CONTENT }, decoding: undefined }
      // Why a transaction failed comes from its receipt and its traces.
      const failure = kind === 'tx' && (isOwn || path.startsWith('traces')) ? FAILURE : {}
      if (!isOwn) return { ...document, _source: { ...document._source, ...failure } }
      // What no field shows stands in `extra`.
      const shown = { [field]: undefined, method: undefined, extra: undefined }
      return { ...document, _source: { ...document._source, ...failure, ...shown } }
    }),
  )
}

const FAILURE = {
  error: undefined,
  revertReason: undefined,
  revertName: undefined,
  revertData: undefined,
  revertAddress: undefined,
  revertTrace: undefined,
}

const LOG_CONTENT = {
  topics: undefined,
  signature: undefined,
  data: undefined,
  args: undefined,
  str: undefined,
  error: undefined,
}

const check = (raw: RawBlock, made: Iterable<Mutation<RawBlock>>): { refused: number; taken: number } => {
  const store = createTestStore()
  try {
    const honest = tell(store, formatPackLine(raw))
    assert.ok(!(honest instanceof ChainsieveError), String(honest))
    const count = { refused: 0, taken: 0 }
    for (const mutation of made) {
      const what = `${mutation.path}: ${mutation.what}`
      let told: All | ChainsieveError
      try {
        told = tell(store, JSON.stringify(mutation.raw))
      } catch (error) {
        throw new Error(what, { cause: error })
      }
      if (told instanceof ChainsieveError) {
        count.refused++
        assert.equal(told.next, 'refuse', what)
        assert.match(told.message, /^pack, line 1(:|, at|, column)/, what)
        assert.ok(told.message.length < 700, what)
      } else {
        count.taken++
        assert.deepStrictEqual(untouched(mutation, told), untouched(mutation, honest), what)
      }
    }
    return count
  } finally {
    store.close()
  }
}

const randomOf = (seed: number) => {
  const random = createRandom()
  random.seek(seed, 0, 0, 0)
  return () => random.unit()
}

describe('a block with one wrong member is refused, or gives the documents of the honest one', () => {
  it('whatever member of a block that has them all', () => {
    const { refused, taken } = check(fullBlock(), mutations(fullBlock(), randomOf(1)))
    assert.ok(refused > 3000 && taken > 300, `${refused} ${taken}`)
  })

  it('of the demo chain', () => {
    for (const [seed, raw] of demoBlocks().slice(-3).entries()) check(raw, randomMutations(raw, randomOf(seed), 300))
  })

  it('of mainnet', { skip: !hasMainnet && 'no mainnet blocks at hand' }, () => {
    const [first] = mainnetBlocks()
    const raw = excerptOf(first!, index => index < 12)
    check(raw, randomMutations(raw, randomOf(9), 300))
  })
})
