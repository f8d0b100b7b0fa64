import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { RawBlock } from '../../src/chain/wire.ts'
import { createEventDecoder } from '../../src/decode/abi-decoder.ts'
import { createLogDecoder } from '../../src/decode/logs.ts'
import { parseSignature } from '../../src/decode/signature.ts'
import type { EventAbi } from '../../src/decode/types.ts'
import { keepCalls } from '../../src/documents/calls.ts'
import { BLOCK_LISTS, type BlockDocumentsInput, type Document } from '../../src/documents/document.ts'
import { asBigint, asJson } from '../../src/documents/show.ts'
import { createBlockDocuments } from '../../src/engine/show/block-documents.ts'
import { byKind, type FieldKind, isListField, KINDS, type Kind, MAPPING } from '../../src/mapping/index.ts'
import { oddBlocks, oddEvents } from '../support/odd.ts'
import { hasMainnet } from '../support/pack.ts'
import {
  callsOf,
  candidatesOf,
  createShows,
  createTestStore,
  decimalsOf,
  demoBlocks,
  demoEvents,
  excerptOf,
  generatedBlocks,
  METHODS,
  mainnetBlocks,
} from '../support/store.ts'

// The store is the oracle: what it gives back of a block is what must be built of the block itself.

type All = Record<Kind, Document[]>

const decoderOf = (events: readonly EventAbi[]) => {
  const decode = createLogDecoder({
    find: (topic, indexed) => candidatesOf(topic, indexed, events),
    compile: createEventDecoder,
  })
  const shows = createShows()
  return (raw: RawBlock): BlockDocumentsInput => ({
    raw,
    ...shows(raw),
    logs: raw.receipts.flatMap(({ logs }) => logs.map(decode)),
    methods: raw.block.transactions.map(({ to, input }) =>
      to ? (METHODS[input.slice(0, 10).toLowerCase()] ?? null) : null,
    ),
    calls: callsOf(raw),
    decimals: address => decimalsOf(raw.chainId ?? 1, `0x${address}`),
  })
}

const entries = Object.entries as <K extends string, V>(table: Record<K, V>) => [K, V][]

const build = (inputs: readonly BlockDocumentsInput[], big: typeof asJson): All => {
  const all: All = byKind(KINDS, () => [])
  for (const input of inputs) {
    const documents = createBlockDocuments(input, big)
    all.block.push(documents.block(0))
    for (let i = 0; i < input.methods.length; i++) all.tx.push(documents.tx(i))
    for (let i = 0; i < input.logs.length; i++) {
      const event = documents.event(i)
      if (event) all.event.push(event)
      all.log.push(documents.log(i))
    }
    for (const [kind, listed] of entries(BLOCK_LISTS))
      for (const i of listed(input).keys()) all[kind].push(documents[kind](i))
  }
  return byKind(KINDS, kind => all[kind].map(asPlain))
}

/** With a source that is made on demand. */
const asPlain = (document: Document): Document => ({ ...document, _source: document._source })

/** How many documents of each kind were compared. */
const compare = (
  blocks: readonly RawBlock[],
  events: readonly EventAbi[] = [],
  kept: 'calls' | 'all' = 'all',
): Record<Kind, number> => {
  const store = createTestStore(blocks, { events, run: [1, 3, 2, 5], traces: kept })
  try {
    const inputs = blocks
      .map(decoderOf(events))
      .map(input => (kept === 'calls' ? { ...input, ...keepCalls(input.traces, input.calls) } : input))
    const exact = build(inputs, asBigint)
    for (const kind of KINDS) {
      const stored = store.all(kind)
      assert.equal(exact[kind].length, stored.length, kind)
      for (const [i, document] of stored.entries()) {
        assert.deepStrictEqual(exact[kind][i], document)
      }
    }
    return Object.fromEntries(KINDS.map(kind => [kind, exact[kind].length])) as Record<Kind, number>
  } finally {
    store.close()
  }
}

describe('documents of a block that is not stored yet are those that the store gives back', () => {
  it('of real mainnet blocks', { skip: !hasMainnet && 'no mainnet blocks at hand' }, () => {
    const { tx, log, event } = compare(mainnetBlocks())
    assert.ok(tx > 400 && log > 900 && event > 800 && event < log, `${tx} ${log} ${event}`)
  })

  it('of made-up blocks of mainnet’s shape', () => {
    const { event } = compare(generatedBlocks(15))
    assert.ok(event > 3000, `${event}`)
  })

  it('of the demo chain, failures included', () => {
    const { event, trace, contract, token } = compare(demoBlocks(), demoEvents())
    assert.ok(event > 2700 && trace > 5000, `${event} ${trace}`)
    assert.ok(contract > 10 && token > 5, `${contract} ${token}`)
  })

  it('of blocks of everything that is rare', () => {
    const { log, event } = compare(oddBlocks(40), oddEvents)
    assert.ok(event > 100 && event < log, `${log} ${event}`)
  })

  it('of steps that call functions, where no others are kept', () => {
    for (const blocks of [demoBlocks(), oddBlocks(40)]) {
      const all = compare(blocks)
      const few = compare(blocks, [], 'calls')
      assert.deepEqual({ ...few, trace: 0 }, { ...all, trace: 0 })
      assert.ok(few.trace <= few.call && few.trace < all.trace, `${few.trace} of ${all.trace}`)
    }
  })

  it('of excerpts, at the places that the wire tells', () => {
    compare(generatedBlocks(4).map((raw, i) => excerptOf(raw, index => i === 2 || index % 7 === i)))
    compare(
      oddBlocks(8).map((raw, i) => excerptOf(raw, index => index % 2 === i % 2)),
      oddEvents,
    )
  })

  it('of nodes that write hex in upper case', () => {
    const upper = oddBlocks(10).map(raw => {
      const { block, receipts } = raw
      // Hashes are in lower case on every node that is taken for one; everything else may be in any.
      const kept = { hash: block.hash, parentHash: block.parentHash }
      return { ...raw, block: { ...shout(block), ...kept }, receipts: shout(receipts) }
    })
    compare(upper, oddEvents)
  })

  it('whatever form a node gives to values', () => {
    fc.assert(
      fc.property(
        fc.array(members('block'), { minLength: 1, maxLength: 4 }),
        fc.infiniteStream(members('tx')),
        (made, txs) => {
          const blocks = structuredClone(plain.slice(0, made.length))
          for (const [i, { block, receipts }] of blocks.entries()) {
            put(block, made[i]!.wire)
            for (const [j, tx] of block.transactions.entries()) {
              const { wire, receipt } = txs.next().value!
              put(tx, wire)
              put(receipts[j]!, receipt)
            }
          }
          compare(blocks)
        },
      ),
      { seed: 11, numRuns: 25 },
    )
  })
})

const plain = generatedBlocks(4, 3).map(raw => excerptOf(raw, index => index < 25))

const shout = <T>(value: T): T => {
  if (typeof value === 'string') return (value.startsWith('0x') ? `0x${value.slice(2).toUpperCase()}` : value) as T
  if (Array.isArray(value)) return value.map(shout) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shout(inner)])) as T
}

const put = (target: Record<string, unknown>, values: Record<string, unknown>) => {
  for (const [name, value] of Object.entries(values))
    if (value === undefined) delete target[name]
    else target[name] = value
}

const digits = (min: number, max: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), minLength: min, maxLength: max })
const hex = (min: number, max: number) => digits(min, max).map(text => `0x${text}`)
/** Beginning with zeros or not, of any size about the bounds that doubles, longs and words have. */
const quantity = fc.oneof(
  fc
    .tuple(fc.constantFrom('', '0', '00', '0000'), digits(1, 64))
    .map(([zeros, text]) => `0x${`${zeros}${text}`.slice(0, 64)}`),
  fc.bigInt(0n, 2n ** 64n).map(value => `0x${value.toString(16)}`),
  fc
    .tuple(fc.constantFrom(2n ** 52n, 2n ** 53n, 2n ** 63n, 2n ** 64n), fc.bigInt(-2n, 2n))
    .map(([bound, by]) => `0x${(bound + by).toString(16)}`),
  fc.nat(),
  fc.constantFrom('0x', '0x0', '0x00', 0, Number.MAX_SAFE_INTEGER),
)
const text = fc.constantFrom('0x')
const WIRE: Record<FieldKind, fc.Arbitrary<unknown>> = {
  address: hex(40, 40),
  hex: hex(0, 300),
  hexList: fc.array(hex(64, 64), { maxLength: 3 }),
  hexNumber: quantity,
  quantity,
  wide: quantity,
  amount: quantity,
  boolean: fc.constantFrom('0x1', '0x0', true, false),
  seconds: fc.nat({ max: 2 ** 40 }).map(value => `0x${value.toString(16)}`),
  datetime: text,
  keyword: text,
  text,
  long: quantity,
  integers: fc.array(fc.nat()),
  double: quantity,
  integer256: quantity,
  decimal: quantity,
  flattened: fc.constant({}),
}
/** Fields that every block and transaction has. */
const FIXED = ['hash', 'parentHash', 'timestamp', 'from', 'logsBloom']

const rarely = (value: fc.Arbitrary<unknown>, fixed: boolean) =>
  fixed
    ? value
    : fc.oneof(
        { arbitrary: value, weight: 6 },
        { arbitrary: fc.constant(null), weight: 1 },
        { arbitrary: fc.constant(undefined), weight: 1 },
      )

const members = (kind: 'block' | 'tx') => {
  const of = (origin: 'wire' | 'receipt') =>
    fc.record(
      Object.fromEntries(
        Object.entries(MAPPING[kind].fields)
          .filter(([name, field]) => field.origin === origin && !FIXED.slice(0, 4).includes(name))
          .map(([name, field]) => {
            if (!isListField(field)) return [field.wire ?? name, rarely(WIRE[field.kind], name === 'input')]
            const item = Object.entries(field.members).flatMap(([member, { kind }]) => {
              const value = rarely(WIRE[kind], false)
              return [
                [member, value],
                [member.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`), value],
              ]
            })
            return [name, rarely(fc.array(fc.record(Object.fromEntries(item)), { maxLength: 3 }), false)]
          }),
      ),
    )
  return fc.record({ wire: of('wire'), receipt: of('receipt') })
}

it('builds what is asked for, once, and no document of an event for what is none', () => {
  const [raw] = oddBlocks(1)
  const input = decoderOf(oddEvents)(raw!)
  const asked: string[] = []
  const documents = createBlockDocuments(
    {
      ...input,
      decimals(address) {
        asked.push(address)
        return 3
      },
    },
    asBigint,
  )
  assert.deepEqual(asked, [])
  const events = input.logs.map((_, i) => documents.event(i))
  assert.deepEqual(
    events.map(event => event !== undefined),
    input.logs.map(({ signature }) => signature.event !== null),
  )
  const before = asked.length
  for (const i of input.logs.keys()) {
    assert.equal(documents.event(i), events[i])
    assert.equal(documents.log(i), documents.log(i))
  }
  assert.equal(documents.tx(1), documents.tx(1))
  assert.equal(documents.block(0), documents.block(0))
  assert.equal(asked.length, before)
})

it('tells rules what an event was decoded by: its declaration, and the decimals of the token', () => {
  const event = parseSignature('Paid(address indexed to, uint256 amount)')
  const flag = parseSignature('Flag(bytes32 indexed word)')
  const [raw] = generatedBlocks(1)
  const decoding = (declaration: EventAbi, decimals: number | undefined, ints: (bigint | null)[] | null) => {
    const args = ints?.map((int, pos) => ({ name: '', pos, type: 'uint256', hex: '0x1', int })) ?? null
    const signature = {
      key: '',
      of: 'log' as const,
      topic: null,
      indexed: 1,
      event: declaration,
      probability: 1,
      error: args ? null : 'no',
    }
    const logs = raw!.receipts.flatMap(({ logs }) => logs.map(() => ({ signature, args })))
    const input = {
      raw: raw!,
      logs,
      methods: [],
      failures: [],
      traces: [],
      calls: [],
      contracts: [],
      tokens: [],
      decimals: () => decimals,
    }
    return createBlockDocuments(input, asJson).event(0)!.decoding
  }
  assert.deepEqual(decoding(event, 6, [null, 5n]), { inputs: event.inputs, decimals: 6 })
  assert.deepEqual(decoding(event, 0, [null, 5n]), { inputs: event.inputs, decimals: 0 })
  assert.deepEqual(decoding(event, undefined, [null, 5n]), { inputs: event.inputs, decimals: null })
  assert.deepEqual(decoding(flag, 6, [null]), { inputs: flag.inputs, decimals: null })
  assert.deepEqual(decoding(event, 6, null), { inputs: event.inputs, decimals: null })
})
