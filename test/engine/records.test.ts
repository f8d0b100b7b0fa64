import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import type { RawBlock, RpcReceipt, RpcTrace, RpcTransaction } from '../../src/chain/wire.ts'
import { traceReader } from '../../src/documents/traces.ts'
import { columnIndex, PLACES_PER_ROW, RECORD_COLUMNS, type RecordColumn } from '../../src/engine/documents/columns.ts'
import { createRecordReader, type Records } from '../../src/engine/documents/record-reader.ts'
import { valueReader } from '../../src/engine/documents/record-values.ts'
import { createBlockWriter, hashOfTx, indexOfTx, readBlockRow } from '../../src/engine/documents/records/block.ts'
import { newCallRecord, readCall, rewriteCall, writeCall } from '../../src/engine/documents/records/call.ts'
import { fieldsWriter, locate, rewriteField, seek } from '../../src/engine/documents/records/fields.ts'
import { endTopics, newLogRecord, readLog, rewriteLog, writeLog } from '../../src/engine/documents/records/log.ts'
import { createRecordRows, newStarts, type RecordRows, startsIn } from '../../src/engine/documents/records/rows.ts'
import { createTraceWriter, newTraceRecord, readTrace, txOfTrace } from '../../src/engine/documents/records/trace.ts'
import { wireTxReader } from '../../src/engine/documents/wire-readers.ts'
import { unpackAbi } from '../../src/engine/forms/abi-words.ts'
import {
  cursor,
  FOLLOWS_LOGS,
  type FormName,
  type Ids,
  NO_BYTES,
  takeLength,
  takeVarint,
} from '../../src/engine/forms/form.ts'
import { booleanForm } from '../../src/engine/forms/ids.ts'
import { takeInteger } from '../../src/engine/forms/integer.ts'
import type { Statement } from '../../src/engine/reader.ts'
import { positionOf } from '../../src/engine/schema.ts'
import { createByteWriter } from '../../src/lib/bytes.ts'
import { decodeRlp } from '../../src/lib/rlp.ts'
import { type FieldwiseKind, isListField, RECORD_KINDS, type RecordKind } from '../../src/mapping/index.ts'

// The same dictionaries for all: what they number is given back as text.
const texts: string[] = ['']
const numbers = new Map<string, number>()
const idOf = (text: string): number => {
  let id = numbers.get(text)
  if (id === undefined) {
    id = texts.push(text) - 1
    numbers.set(text, id)
  }
  return id
}
const ids = (): Ids => ({
  address: text => idOf(text.slice(2).toLowerCase()),
  addressOfDigits: idOf,
  addressOfTopic: topic => idOf(topic.slice(26).toLowerCase()),
  name: idOf,
  packed: new Map(),
})
const digitsOf = (id: number) => texts[id]!

// What the wire may say of a field, by its form: null and nothing at all included.
const digits = (least: number, most: number) =>
  fc
    .array(fc.constantFrom(...'0123456789abcdefABCDEF'), { minLength: least, maxLength: most })
    .map(list => `0x${list.join('')}`)
const bytes = (most: number) => digits(0, most).map(hex => (hex.length % 2 ? `${hex}0` : hex))
const address = digits(40, 40)
const word = digits(64, 64)
/** Words as calls have them: addresses, small numbers, padded texts. */
const words = fc.oneof(
  bytes(200),
  fc
    .array(
      fc.oneof(
        address.map(hex => hex.slice(2).padStart(64, '0')),
        word.map(hex => hex.slice(2)),
        digits(1, 6).map(hex => hex.slice(2).padStart(64, '0')),
      ),
      { maxLength: 60 },
    )
    .map(list => `0xa9059cbb${list.join('')}`),
)
const quantity = fc.oneof(
  fc.nat().map(value => `0x${value.toString(16)}`),
  digits(0, 64),
  fc.nat({ max: 300 }),
  fc.constantFrom('0x', '0x0', '0x00', '0x7f', '0x80', '0xff', '0x1fffffffffffff', '0x20000000000000', 2 ** 53 - 1),
)

const wireOf = ({ form: { name: form }, declaration }: RecordColumn): fc.Arbitrary<unknown> => {
  switch (form) {
    case 'address':
      return address
    case 'name':
      return fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
    case 'uint':
    case 'digits':
      return quantity
    case 'boolean':
      return fc.constantFrom('0x1', '0x0', true, false)
    case 'bloom':
    case 'bytes':
      return fc.oneof(digits(0, 600), bytes(20))
    case 'words':
      return words
    case 'hashes':
      return fc.array(word, { maxLength: 6 })
    case 'integers':
      return fc.array(fc.nat(100_000), { maxLength: 8 })
    case 'list':
      return fc.array(
        fc.record(
          Object.fromEntries(
            Object.entries(isListField(declaration) ? declaration.members : {}).map(([name, { kind }]) => [
              name,
              kind === 'hexList' ? fc.array(word, { maxLength: 3 }) : kind === 'address' ? address : quantity,
            ]),
          ),
          { requiredKeys: [], noNullPrototype: true },
        ),
        { maxLength: 4 },
      )
    // What stands in none of the other fields: see the test of it.
    case 'rest':
      return fc.constant(undefined)
  }
}

/** A wire object of these fields, each of which may be null or not there. */
const wire = (columns: readonly RecordColumn[]): fc.Arbitrary<Record<string, unknown>> =>
  fc.record(
    Object.fromEntries(
      columns
        .filter(({ form }) => form.name !== 'rest')
        .map(column => [column.wire, fc.option(wireOf(column), { freq: 8, nil: null })] as const),
    ),
    { requiredKeys: [], noNullPrototype: true },
  )

/** Naive: what a field of the wire is to be read as. */
const expected = ({ form: { name: form }, declaration }: RecordColumn, value: unknown): unknown => {
  if (value === undefined || value === null) return value
  const hex =
    typeof value === 'number' ? `0x${value.toString(16)}` : typeof value === 'string' ? value.toLowerCase() : ''
  const even = (text: string) => (text.length % 2 ? `0x0${text.slice(2)}` : text)
  switch (form) {
    case 'address':
      return hex.slice(2)
    case 'name':
      return value
    case 'uint':
    case 'digits':
      if (form === 'digits' && /^0x0[0-9a-f]/.test(hex) && hex.length % 2 === 0) return hex
      return hex === '0x' ? 0n : BigInt(hex)
    case 'boolean':
      return value === '0x1' || value === true
    case 'bytes':
    case 'bloom':
      return even(hex)
    case 'words':
      return hex
    case 'hashes':
      return (value as string[]).map(item => item.toLowerCase())
    case 'integers':
      return value
    case 'list':
      return (value as Record<string, unknown>[]).map(item =>
        Object.entries(isListField(declaration) ? declaration.members : {}).map(([name, { kind }]) => {
          const member = item[name]
          if (member === undefined) return []
          if (kind === 'hexList') return (member as string[]).map(text => text.toLowerCase())
          const text = typeof member === 'number' ? `0x${member.toString(16)}` : String(member).toLowerCase()
          if (kind !== 'hexNumber') return text
          return `0x${even(`0x${text.slice(2).replace(/^0+/, '')}`).slice(2)}`
        }),
      )
  }
}

const hexText = (item: unknown): unknown =>
  Array.isArray(item) ? item.map(hexText) : `0x${Buffer.from(item as Uint8Array).toString('hex')}`

const readers: Record<FormName, (bytes: Buffer, length: number) => unknown> = {
  address: bytes => digitsOf(takeVarint(bytes)) || null,
  name: bytes => digitsOf(takeVarint(bytes)) || null,
  uint: takeInteger,
  digits: takeInteger,
  boolean: bytes => booleanForm.take!(bytes),
  bloom: (bytes, length) => `0x${bytes.toString('hex', cursor.at, cursor.at + length)}`,
  bytes: (bytes, length) => `0x${bytes.toString('hex', cursor.at, cursor.at + length)}`,
  words: (bytes, length) => unpackAbi(bytes.subarray(cursor.at, cursor.at + length), digitsOf),
  hashes: (bytes, length) =>
    Array.from({ length: length / 32 }, (_, i) => hexText(bytes.subarray(cursor.at + 32 * i, cursor.at + 32 * i + 32))),
  integers(bytes, length) {
    const end = cursor.at + length
    const found: number[] = []
    while (cursor.at < end) found.push(takeVarint(bytes))
    return found
  },
  // A member stands in a list of its own, which is empty where there is none.
  list: (bytes, length) =>
    (decodeRlp(bytes.subarray(cursor.at, cursor.at + length)) as unknown[][][]).map(item =>
      item.map(([member]) => (member === undefined ? [] : hexText(member))),
    ),
  rest: (bytes, length) => bytes.subarray(cursor.at, cursor.at + length),
}
const HAVE_LENGTH = new Set<FormName>(['bloom', 'bytes', 'words', 'hashes', 'integers', 'list'])

/** What a record holds, by the names of the fields. */
const fieldsIn = (kind: FieldwiseKind, bytes: Buffer, offsets: Int32Array): Record<string, unknown> => {
  const found: Record<string, unknown> = {}
  for (const [i, column] of RECORD_COLUMNS[kind].entries()) {
    if (offsets[i]! < 0) continue
    cursor.at = offsets[i]!
    const length = HAVE_LENGTH.has(column.form.name) ? takeLength(bytes) : 0
    const value =
      length === NO_BYTES ? null : length === FOLLOWS_LOGS ? 'follows' : readers[column.form.name](bytes, length)
    found[column.field] = typeof value === 'number' ? BigInt(value) : value
  }
  return found
}

const due = (columns: readonly RecordColumn[], wireOf: (column: RecordColumn) => unknown): Record<string, unknown> =>
  Object.fromEntries(
    columns.flatMap(column => {
      const value = expected(column, wireOf(column))
      return value === undefined ? [] : [[column.field, value]]
    }),
  )

/** Records that stand in memory as in a store. */
const store = (rows: Partial<Record<RecordKind, RecordRows>>): Records & { db: Database.Database } => {
  const db = new Database(':memory:')
  for (const kind of RECORD_KINDS) {
    db.exec(`CREATE TABLE ${kind} (pos INTEGER PRIMARY KEY, bytes BLOB NOT NULL)`)
    const { positions, lengths, bytes } = rows[kind] ?? createRecordRows(kind).finish()
    let start = 0
    for (const [i, position] of positions.entries()) {
      db.prepare(`INSERT INTO ${kind} VALUES (?, ?)`).run(
        position,
        Buffer.from(bytes.subarray(start, start + lengths[i]!)),
      )
      start += lengths[i]!
    }
  }
  db.exec('CREATE TABLE block (number INTEGER PRIMARY KEY, hash, time, hashes, ends, record)')
  return Object.assign(createRecordReader({ prepare: sql => db.prepare(sql) as Statement, version: () => 1 }), { db })
}

/** Places of a few blocks, most of them neighbours, with gaps as partial blocks have them. */
const places = fc
  .array(fc.tuple(fc.nat(3), fc.nat(200), fc.nat(20)), { maxLength: 12 })
  .map(runs => [
    ...new Set(
      runs.flatMap(([block, first, count]) => Array.from({ length: count }, (_, i) => positionOf(block, first + i))),
    ),
  ])
  .map(list => list.sort((a, b) => a - b))

const damage = {
  next: 'stop',
  code: 'store_damaged',
  message: /block 7 in the table "log" does not match its checksum/,
}

describe('rows of records', () => {
  it('give every record back by its position, and nothing where none is', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...RECORD_KINDS),
        places,
        fc.infiniteStream(fc.uint8Array({ minLength: 1, maxLength: 300 })),
        (kind, positions, contents) => {
          const builder = createRecordRows(kind)
          const model = new Map<number, Uint8Array>()
          for (const position of positions) {
            const record = contents.next().value!
            builder.begin(Math.floor(position / 2 ** 22), position % 2 ** 22)
            builder.out.bytes(record)
            builder.end()
            model.set(position, record)
          }
          const rows = builder.finish()
          const firsts = new Set(positions.map(position => position - (position % PLACES_PER_ROW[kind])))
          assert.deepEqual([...rows.positions], [...firsts], 'rows without any record are left out')
          const records = store({ [kind]: rows })
          const read = (position: number) => {
            const view = records.find(kind, position)
            return view && new Uint8Array(view.bytes.subarray(view.start, view.end))
          }
          for (const position of [...positions, ...positions.map(position => position + 1), 5].reverse())
            assert.deepEqual(read(position), model.get(position))
          const [from, to] = [positions[3] ?? 0, positions.at(-3) ?? 0]
          const found: [number, Uint8Array][] = []
          records.each(kind, from, to, (position, { bytes, start, end }) => {
            found.push([position, new Uint8Array(bytes.subarray(start, end))])
            // Whoever is visited may ask for others.
            records.find(kind, positions[0]!)
          })
          assert.deepEqual(
            found,
            [...model].filter(([position]) => position >= from && position <= to),
          )
        },
      ),
    )
  })

  it('of many rows are visited in order until the visitor has enough', () => {
    const builder = createRecordRows('tx')
    for (let place = 0; place < 1000; place++) {
      builder.begin(3, place)
      builder.out.varint(place)
      builder.end()
    }
    const records = store({ tx: builder.finish() })
    const found: number[] = []
    records.each('tx', positionOf(3, 10), positionOf(4, 0), (position, { bytes, start }) => {
      cursor.at = start
      assert.equal(positionOf(3, takeVarint(bytes)), position)
      return found.push(position) < 900
    })
    assert.deepEqual(
      found,
      Array.from({ length: 900 }, (_, i) => positionOf(3, 10 + i)),
    )
  })

  it('of which a bit is lost are refused, by the names of table and block', () => {
    const builder = createRecordRows('log')
    for (let place = 0; place < 5; place++) {
      builder.begin(7, place)
      builder.out.bytes(Buffer.from(`record ${place}`))
      builder.end()
    }
    const row = Buffer.from(builder.finish().bytes)
    const starts = newStarts()
    assert.equal(startsIn(row, 'log', positionOf(7, 0), starts), 5)
    for (let bit = 0; bit < row.length * 8; bit++) {
      const wrong = Buffer.from(row)
      wrong[bit >> 3]! ^= 1 << (bit & 7)
      assert.throws(() => startsIn(wrong, 'log', positionOf(7, 0), starts), damage)
    }
    for (let length = 0; length < row.length; length++)
      assert.throws(() => startsIn(row.subarray(0, length), 'log', positionOf(7, 0), starts), damage)
  })
})

describe('records', () => {
  it('of transactions hold what the wire says, each field for itself', () => {
    const columns = RECORD_COLUMNS.tx
    const of = (origin: string) => columns.filter(column => column.declaration.origin === origin)
    fc.assert(
      fc.property(
        wire(of('wire')),
        wire(of('receipt')),
        fc.option(fc.constantFrom('transfer', 'approve')),
        fc.boolean(),
        (tx, receipt, method, follows) => {
          const builder = createRecordRows('tx')
          builder.begin(1, 2)
          const input = {
            tx: tx as RpcTransaction,
            receipt: receipt as unknown as RpcReceipt,
            method: method ?? undefined,
            failure: undefined,
            bloom: follows ? receipt.logsBloom : '0x',
          }
          fieldsWriter('tx', wireTxReader, ids())(builder.out, input)
          builder.end()
          const records = store({ tx: builder.finish() })
          const position = positionOf(1, 2)
          const { bytes, start, end } = { ...records.find('tx', position)! }
          const offsets = new Int32Array(columns.length)
          locate('tx', bytes, start, offsets)
          assert.equal(cursor.at, end)
          const model = due(columns, ({ declaration: { origin }, wire, field }) =>
            origin === 'decoded'
              ? field === 'method'
                ? input.method
                : undefined
              : origin === 'receipt'
                ? receipt[wire]
                : tx[wire],
          )
          if (follows && typeof receipt.logsBloom === 'string') model.logsBloom = 'follows'
          else if (model.logsBloom === '0x') model.logsBloom = 'follows'
          assert.deepStrictEqual(fieldsIn('tx', bytes, offsets), model)

          for (const [
            i,
            {
              field,
              form: { name: form },
            },
          ] of columns.entries()) {
            assert.equal(seek('tx', i, bytes, start), offsets[i]! >= 0)
            if (offsets[i]! >= 0) assert.equal(cursor.at, offsets[i])
            const value = valueReader('tx', field, records)?.(position)
            if (['address', 'name', 'uint', 'digits', 'boolean', 'bytes'].includes(form))
              assert.deepStrictEqual(
                typeof value === 'number'
                  ? form === 'uint' || form === 'digits'
                    ? BigInt(value)
                    : digitsOf(value)
                  : value,
                model[field],
              )
            else assert.equal(value, undefined)
          }
          const packed = records.txInput(position)
          assert.deepStrictEqual(
            packed && unpackAbi(packed.bytes.subarray(packed.start, packed.end), digitsOf),
            model.input,
          )

          // Another method leaves the rest as it is.
          const out = createByteWriter()
          out.text('before')
          rewriteField(out, 'tx', columnIndex('tx', 'method'), bytes, [start, end], out => out.varint(idOf('other')))
          const changed = Buffer.from(out.take())
          locate('tx', changed, 6, offsets)
          assert.equal(cursor.at, changed.length)
          assert.deepStrictEqual(fieldsIn('tx', changed, offsets), { ...model, method: 'other' })
        },
      ),
    )
  })

  it('of traces hold what the wire says, and find their call data where they are', () => {
    const columns = RECORD_COLUMNS.trace
    const input = fc.constantFrom<(string | null | undefined)[]>(
      '0x',
      null,
      undefined,
      '0x12345678',
      `0x12345678${'00'.repeat(64)}`,
      `0x${'ab'.repeat(700)}`,
    )
    const action = wire(columns.filter(({ field }) => field.startsWith('action.')).map(inner))
    const result = wire(columns.filter(({ field }) => field.startsWith('result.')).map(inner))
    const trace = fc.record(
      {
        type: fc.constantFrom('call', 'create', 'suicide', 'reward'),
        action: fc.tuple(action, input).map(([members, input]) => ({ ...members, input, callType: 'delegatecall' })),
        result: fc.option(result),
        subtraces: fc.nat(9),
        traceAddress: fc.array(fc.nat(300), { maxLength: 4 }),
        transactionPosition: fc.nat(2),
        error: fc.constant('Reverted'),
      },
      { requiredKeys: ['type', 'action', 'result', 'subtraces', 'traceAddress', 'transactionPosition'] },
    )
    fc.assert(
      fc.property(
        fc.array(trace, { maxLength: 40 }),
        fc.array(input, { minLength: 3, maxLength: 3 }),
        (traces, inputs) => {
          const txs = createRecordRows('tx')
          const writeTx = fieldsWriter('tx', wireTxReader, ids())
          for (const [place, input] of inputs.entries()) {
            txs.begin(1, place)
            const tx = (input === undefined ? {} : { input }) as RpcTransaction
            writeTx(txs.out, { tx, receipt: {} as RpcReceipt, method: undefined, failure: undefined, bloom: undefined })
            txs.end()
          }
          const rows = createRecordRows('trace')
          const write = createTraceWriter(ids())
          for (const [place, it] of traces.entries()) {
            const isFirst = rows.begin(1, place)
            write(rows.out, it as unknown as RpcTrace, inputs[it.transactionPosition] ?? undefined, isFirst)
            rows.end()
          }
          const records = store({ tx: txs.finish(), trace: rows.finish() })
          for (const [place, it] of traces.entries()) {
            const position = positionOf(1, place)
            const { bytes, start } = { ...records.find('trace', position)! }
            const record = newTraceRecord()
            readTrace(bytes, start, record)
            assert.equal(record.tx, it.type === 'reward' ? -1 : it.transactionPosition)
            assert.equal(txOfTrace(bytes, start), record.tx)
            assert.deepStrictEqual(
              fieldsIn('trace', bytes, record.offsets),
              due(columns, ({ wire }) => traceReader(wire)(it as unknown as RpcTrace)),
            )
            const packed = records.traceInput(position)
            assert.deepStrictEqual(
              packed && unpackAbi(packed.bytes.subarray(packed.start, packed.end), digitsOf),
              it.action.input,
            )
          }
        },
      ),
    )
  })

  it('of logs and calls give back what was written, also with another signature', () => {
    const small = fc.nat(2 ** 31)
    const decimals = fc.option(fc.nat(255))
    const blob = fc.uint8Array({ maxLength: 132 })
    fc.assert(
      fc.property(
        small,
        small,
        small,
        decimals,
        blob,
        blob,
        decimals,
        fc.option(blob),
        (tx, address, signature, ...rest) => {
          const [decimals, topics, data, others, otherTopics] = rest
          const out = createByteWriter()
          out.byte(9)
          const start = writeLog(out, tx, address, signature, decimals)
          out.bytes(topics)
          endTopics(out, start)
          out.bytes(data)
          const bytes = Buffer.from(out.take())
          const read = (bytes: Buffer, start: number) => {
            const log = newLogRecord()
            readLog(bytes, start, log)
            const { topicsStart, topicsEnd, ...members } = log
            return {
              ...members,
              topics: bytes.toString('hex', topicsStart, topicsEnd),
              data: bytes.toString('hex', topicsEnd),
            }
          }
          const model = { tx, address, signature, decimals, topics: hex(topics), data: hex(data) }
          assert.deepEqual(read(bytes, 1), model)
          out.truncate(0)
          rewriteLog(out, bytes, [1, bytes.length], 5, others, otherTopics ?? undefined)
          assert.deepEqual(read(Buffer.from(out.take()), 0), {
            ...model,
            signature: 5,
            decimals: others,
            topics: hex(otherTopics ?? topics),
          })
        },
      ),
    )
    const call = fc
      .record({
        trace: fc.integer({ min: -1, max: 300 }),
        signature: small,
        decimals,
        reverted: fc.boolean(),
        tx: small,
        from: small,
        to: small,
        depth: fc.nat(300),
        callType: small,
      })
      .map(call => ({ ...call }))
    fc.assert(
      fc.property(call, decimals, (call, others) => {
        const out = createByteWriter()
        writeCall(out, call)
        const bytes = Buffer.from(out.take())
        const { tx, from, to, depth, callType } = newCallRecord()
        const model = call.trace < 0 ? call : { ...call, tx, from, to, depth, callType }
        const read = (bytes: Buffer) => {
          const record = newCallRecord()
          readCall(bytes, 0, record)
          return record
        }
        assert.deepEqual(read(bytes), model)
        out.truncate(0)
        rewriteCall(out, bytes, 0, 77, others)
        assert.deepEqual(read(Buffer.from(out.take())), { ...model, signature: 77, decimals: others })
      }),
    )
  })

  it('of blocks hold what the wire says, and where its transactions and logs stand', () => {
    const columns = RECORD_COLUMNS.block
    const txs = fc.array(fc.tuple(word, fc.nat(4), fc.array(fc.nat(3), { minLength: 4, maxLength: 4 })), {
      maxLength: 20,
    })
    fc.assert(
      fc.property(wire(columns), txs, fc.boolean(), (block, txs, isPartial) => {
        let [tx, log] = [-1, -1]
        const txPlaces: number[] = []
        const logPlaces: number[] = []
        const owners: number[] = []
        const transactions = txs.map(([hash]) => ({ hash }))
        const receipts = txs.map(([, count, gaps], i) => {
          tx += 1 + (isPartial ? gaps[0]! : 0)
          txPlaces.push(tx)
          for (const gap of gaps.slice(0, count)) {
            log += 1 + (isPartial ? gap : 0)
            logPlaces.push(log)
            owners.push(i)
          }
          return { logs: { length: count } }
        })
        const raw = { block: { ...block, transactions }, receipts } as unknown as RawBlock
        const given = isPartial ? { txs: Uint32Array.from(txPlaces), logs: Uint32Array.from(logPlaces) } : undefined
        const write = createBlockWriter(ids())
        const blob = (append: (out: ReturnType<typeof createByteWriter>) => void) => {
          const out = createByteWriter()
          append(out)
          return Buffer.from(out.take())
        }
        const [hash, hashes] = [Buffer.alloc(32, 7), blob(out => write.hashes(out, raw.block))]
        const ends = blob(out => write.ends(out, raw, given))
        const stored = readBlockRow(4, [hash, 123, hashes, ends])
        assert.deepEqual(
          txPlaces.map(place => [indexOfTx(stored, place), hashOfTx(stored, place)]),
          txs.map(([hash], i) => [i, hash.toLowerCase()]),
        )
        for (let place = 0; place < 100; place++) assert.equal(indexOfTx(stored, place) < 0, !txPlaces.includes(place))
        assert.deepEqual(
          [...stored.logEnds],
          txs.map((_, i) => owners.filter(owner => owner <= i).length),
        )
        assert.deepEqual(stored.places, given)
        for (const blob of [hashes, ends]) {
          const wrong = Buffer.from(blob)
          wrong[0]! ^= 4
          const row = [hash, 123, blob === hashes ? wrong : hashes, blob === ends ? wrong : ends] as const
          assert.throws(() => readBlockRow(4, row), { code: 'store_damaged', message: /block 4 in the table "block"/ })
        }

        const records = store({})
        records.db.prepare('INSERT INTO block VALUES (4, ?, 123, ?, ?, ?)').run(
          hash,
          hashes,
          ends,
          blob(out => write.record(out, raw.block)),
        )
        const view = records.blockRecord(4)!
        const offsets = new Int32Array(columns.length)
        locate('block', view.bytes, view.start, offsets)
        assert.equal(cursor.at, view.end)
        assert.deepStrictEqual(
          fieldsIn('block', view.bytes, offsets),
          due(columns, ({ wire }) => block[wire]),
        )
        const value = (field: string) => valueReader('block', field, records)?.(positionOf(4, 0))
        assert.deepEqual([value('number'), value('timestamp'), value('hash')], [4, 123, `0x${hex(hash)}`])
        assert.equal(records.block(5), undefined)
      }),
    )
  })
})

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
/** The same column as a member of the object that holds it. */
const inner = (column: RecordColumn): RecordColumn => ({ ...column, wire: column.field.split('.')[1]! })
