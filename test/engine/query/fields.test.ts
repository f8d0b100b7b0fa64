import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { RawBlock } from '../../../src/chain/wire.ts'
import { type Field, type FieldPath, isListField, KINDS, MAPPING, queryPaths } from '../../../src/mapping/index.ts'
import { type Bounds, compareValues, type Node, type QueryValue } from '../../../src/query/ast.ts'
import { indexedValuesOf, type TestedDocument } from '../../../src/query/predicate.ts'
import { existsNode, fuzzyNode, inNode, nestedNode, notNode, rangeNode } from '../../../src/query/simplify.ts'
import { type Chain, chainOf, checkFound } from '../../support/chain.ts'
import { oddBlocks, oddEvents } from '../../support/odd.ts'
import { createTestStore, demoBlocks, demoEvents, excerptOf, generatedBlocks } from '../../support/store.ts'

/**
 * Conditions that whole documents are asked for, one by one. All others are found by an index, by a scan of a column, or by one field of each
 * record.
 */
const ASKED = [
  'contract transactionHash range',
  'event args.value.dec range',
  'event args.value.hex range',
  'event str in',
  'event str range',
  'event str exists',
  'event str fuzzy',
  'call args.value.dec range',
  'call args.value.hex range',
  'call error exists',
  'call selector range',
  'call str exists',
  'call str fuzzy',
  'call str in',
  'call str range',
  'call traceAddress exists',
  'call traceAddress in',
  'call traceAddress range',
]

/** No block here has them; of steps within failed transactions there is a test with a node. */
const RARE = new Set(['logsBloom', 'root', 'revertTrace'])

/** Some of the values that a field has, from the least to the greatest. */
const someValues = (field: FieldPath, documents: readonly TestedDocument[]): QueryValue[] => {
  const all = [...new Set(documents.flatMap(({ _source }) => indexedValuesOf(field, _source)))].sort(compareValues)
  const places = [0, 0.3, 0.7, 1].map(share => Math.round(share * (all.length - 1)))
  return [...new Set(places)].flatMap(place => all[place] ?? [])
}

const conditionsOn = (field: FieldPath, values: readonly QueryValue[]): Node[] => {
  const ranges: Bounds[] = values.flatMap((value, i) => [
    { gte: value },
    { gt: value },
    { lte: value },
    { lt: value },
    ...(i > 0 ? [{ gte: values[i - 1]!, lt: value }] : []),
  ])
  return [
    existsNode(field),
    inNode(field, values),
    ...values.map(value => inNode(field, [value])),
    ...ranges.map(bounds => rangeNode(field, bounds)),
    ...(field.kind === 'keyword' || field.kind === 'text' ? values.flatMap(value => near(field, String(value))) : []),
  ]
}

/** Near to a value, of which the first two characters are swapped. */
const near = (field: FieldPath, value: string): Node[] => {
  const text = value.replace(/^(.)(.)/su, '$2$1')
  return [true, false].flatMap(transpositions => [
    fuzzyNode(field, { text, edits: 1, prefix: 0, transpositions }),
    fuzzyNode(field, { text, edits: 2, prefix: 1, transpositions }),
  ])
}

/** A value of a field that few chains have, as their nodes write it. */
const rareValue = ({ kind, bytes }: Field, seed: number): unknown => {
  const hex = (length: number) => (seed * 2_654_435_761).toString(16).padStart(length, '0').slice(-length)
  if (kind === 'boolean') return seed % 2 === 0
  if (kind === 'address') return `0x${hex(40)}`
  if (kind === 'hex') return `0x${hex(2 * (bytes ?? 6))}`
  return kind === 'keyword' ? `0.${seed}` : `0x${(seed + 1).toString(16)}`
}

/** The block with every field that few chains have, and with members that no field knows. */
const withRare = (raw: RawBlock, at: number): RawBlock => {
  const block = structuredClone(raw) as unknown as { block: { transactions: object[] }; receipts: object[] }
  const give = (kind: 'block' | 'tx', place: number, wire: object, receipt: object | undefined) => {
    for (const [name, field] of Object.entries(MAPPING[kind].fields)) {
      if (isListField(field) || field.rare === undefined) continue
      Object.assign(field.origin === 'receipt' && receipt ? receipt : wire, {
        [name]: rareValue(field, at * 50 + place),
      })
    }
    Object.assign(wire, { unheardOf: { depth: `${at}`, of: [`${place}`] } })
  }
  give('block', 0, block.block, undefined)
  block.block.transactions.forEach((tx, place) => void give('tx', place, tx, block.receipts[place]))
  return block as unknown as RawBlock
}

describe('every field that a query may name', () => {
  let plain: Chain
  let odd: Chain
  let rare: Chain

  before(() => {
    const real = createTestStore(demoBlocks().slice(0, 80), { events: demoEvents(), run: [3, 20] })
    real.add(generatedBlocks(1).map(raw => excerptOf(raw, index => index % 5 === 0)))
    plain = chainOf(real)
    odd = chainOf(createTestStore(oddBlocks(24), { events: oddEvents, run: [1, 2] }))
    rare = chainOf(createTestStore(demoBlocks().slice(0, 12).map(withRare), { events: demoEvents(), run: [3, 20] }))
  })
  after(() => {
    plain.store.close()
    odd.store.close()
    rare.store.close()
  })

  for (const kind of KINDS)
    it(`of ${kind} can be asked for by each operator`, () => {
      const asked = new Set<string>()
      for (const field of queryPaths(kind).values()) {
        let values = 0
        for (const chain of [plain, odd, rare]) {
          const some = someValues(field, chain.documents[kind])
          values += some.length
          for (const condition of conditionsOn(field, some)) {
            const list = field.list?.nested ? field.list.name : undefined
            const nodes = [condition, notNode(condition)].map(node => (list ? nestedNode(list, node) : node))
            for (const node of nodes) {
              const what = `${field.path} ${JSON.stringify(condition, (key, value) =>
                key === 'field' ? undefined : typeof value === 'bigint' ? String(value) : value,
              )}`
              const found = checkFound(chain, kind, node, { what })
              if (chain === plain && found.asked > 0) asked.add(`${kind} ${field.path} ${condition.op}`)
            }
          }
        }
        assert.ok(values > 0 || RARE.has(field.path), `no document has ${field.path}`)
      }
      const due = ASKED.filter(what => what.startsWith(`${kind} `))
      assert.deepEqual([...asked].sort(), due.sort())
    })
})
