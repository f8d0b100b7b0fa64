import assert from 'node:assert/strict'
import { MISSING, valueAt } from '../../src/engine/index/column-codec.ts'
import {
  COLUMN_FIELDS,
  type ColumnField,
  OVERFLOW_SLOT,
  UNLISTED,
  UNLISTED_CALL,
} from '../../src/engine/index/terms.ts'
import { ordinalCount, positionOfOrdinal } from '../../src/engine/query/fields/ordinals.ts'
import type { Segment, StoreReader } from '../../src/engine/reader.ts'
import { COUNTED_KINDS, type Kind } from '../../src/mapping/index.ts'
import type { TestStore } from './store.ts'

type Source = Record<string, unknown>

const numberOf = ({ kind, field, declaration }: ColumnField, shown: unknown, reader: StoreReader): number => {
  if (shown === undefined || shown === null) return MISSING
  switch (declaration.kind) {
    case 'address':
      return reader.addressId(String(shown).slice(2).toLowerCase())!
    case 'keyword':
    case 'text':
      return reader.nameId(String(shown))!
    case 'boolean':
      return shown === true ? 1 : 0
    case 'quantity':
    case 'amount':
      return Number(BigInt((shown as { raw: string }).raw))
    case 'long':
      return Number(shown)
    default:
      throw new Error(`${kind}.${field}`)
  }
}

/** All columns of all segments tell what the documents do, and bounds hold; a column of nothing is not there. */
export const checkColumns = (store: TestStore) => {
  const kinds: Kind[] = [...COUNTED_KINDS, 'event']
  const known = new Map(
    kinds.map(kind => {
      const sources = store.all(kind).map(({ _source }) => _source)
      return [kind, new Map(store.positions(kind).map((position, i): [number, Source] => [position, sources[i]!]))]
    }),
  )
  const { reader } = store
  /** A signature is known by what it tells; all that the dictionary had no room for share one. */
  const checkSignature = (id: number, kind: 'log' | 'call', position: number, source: Source, what: string) => {
    const { key, topic, event } = reader.signature(id)
    if (key === UNLISTED || key === UNLISTED_CALL) return
    if (kind === 'call') {
      assert.deepEqual([topic, event?.name ?? null], [source.selector, source.method], what)
      return
    }
    const decoded = known.get('event')!.get(position)
    assert.deepEqual([topic, event?.name], [source.signature ?? null, decoded?.event], what)
  }
  const checkAddresses = (segment: Segment, of: 'log' | 'call') => {
    const header = reader.header(segment)
    const size = ordinalCount({ segment, header }, of)
    for (let slot = 0; slot < OVERFLOW_SLOT; slot++) {
      const column = reader.columns.addresses(segment, { of, slot }, { wanted: size, size })!
      for (let ordinal = 0; ordinal < size; ordinal++) {
        const position = positionOfOrdinal(header, of, ordinal)
        const source = known.get(of === 'log' ? 'event' : 'call')!.get(position)
        const argument = (source?.args as { pos: number; value: { type: string; hex: string } }[] | null)?.[slot]
        const address = argument?.value.type === 'address' ? argument.value.hex : undefined
        const expected = address ? reader.addressId(address.slice(2).toLowerCase()) : Number.NaN
        assert.equal(
          column.dictionary![column.values![ordinal] ?? 0],
          expected,
          `argument ${slot} of the ${of} at ${position}`,
        )
      }
    }
  }
  store.read(() => {
    for (const segment of reader.segments()) {
      const header = reader.header(segment)
      for (const numbered of ['log', 'call'] as const) checkAddresses(segment, numbered)
      for (const column of COLUMN_FIELDS) {
        const { kind, field, number } = column
        const size = ordinalCount({ segment, header }, kind)
        const data = reader.columns.data(segment, number)
        const bounds = reader.columns.bounds(segment, number)
        if (data) assert.equal(data.count, size, field)
        const found = Array.from({ length: size }, (_, ordinal) => (data ? valueAt(data, ordinal) : MISSING))
        const present = found.filter(value => value !== MISSING)
        assert.deepEqual(
          bounds && { ...bounds },
          present.length > 0
            ? {
                least: present.reduce((a, b) => Math.min(a, b)),
                greatest: present.reduce((a, b) => Math.max(a, b)),
              }
            : undefined,
        )
        for (const [ordinal, value] of found.entries()) {
          const position = positionOfOrdinal(header, kind, ordinal)
          const source = known.get(kind)!.get(position)!
          const what = `${kind}.${field} at ${position}`
          if (field === 'signature' || field === 'selector')
            checkSignature(value, kind as 'log' | 'call', position, source, what)
          else {
            const shown = field.split('.').reduce<unknown>((inner, step) => (inner as Source | null)?.[step], source)
            assert.equal(value, numberOf(column, source[field] ?? shown, reader), what)
          }
        }
      }
    }
  })
}
