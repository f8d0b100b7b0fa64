import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { encodeAbiParameters, type Hex } from 'viem'
import { createEventDecoder } from '../../src/decode/abi-decoder.ts'
import { parseSignature, topicOf } from '../../src/decode/signature.ts'
import type { Document } from '../../src/documents/document.ts'
import * as show from '../../src/documents/show.ts'
import type { Kind } from '../../src/mapping/index.ts'
import type { CompareNode } from '../../src/query/ast.ts'
import { compileCompare, facesAt, operandOf } from '../../src/query/compare.ts'
import { ceilExact, compareExact, floorExact, parseExact, showExact, simplifyExact } from '../../src/query/exact.ts'
import { amount } from '../support/shown.ts'

type Subject = Pick<Document, '_source' | 'decoding'>

const HOW = {
  '=': 'equal',
  '>': 'greater',
  '>=': 'greaterOrEqual',
  '<': 'less',
  '<=': 'lessOrEqual',
} as const

interface Options {
  kind?: Kind
  ignoreCase?: boolean
  scaled?: boolean
}

const holds = (
  document: Subject,
  way: string,
  sign: keyof typeof HOW,
  operand: string | string[],
  options: Options = {},
) => {
  const { kind = 'event', ignoreCase = false, scaled = false } = options
  const node: CompareNode = {
    op: 'compare',
    kind,
    steps: way.split(' > '),
    how: HOW[sign],
    operands: [operand].flat().map(operandOf),
    ignoreCase,
    scaled,
  }
  return compileCompare(node)(document)
}

type Case = [way: string, sign: keyof typeof HOW, operand: string | string[], expected: boolean, options?: Options]

const check = (document: Subject, cases: readonly Case[], common: Options = {}) => {
  for (const [way, sign, operand, expected, options] of cases)
    assert.equal(
      holds(document, way, sign, operand, { ...common, ...options }),
      expected,
      `${way} ${sign} ${JSON.stringify(operand)} ${JSON.stringify(options ?? {})}`,
    )
}

describe('a text as an exact number', () => {
  const cases: [text: string, shown: string][] = [
    ['0', '0'],
    ['-0', '0'],
    ['+7', '7'],
    ['007', '7'],
    ['1.50', '1.5'],
    ['1.000', '1'],
    ['-1.25', '-1.25'],
    ['0.000000000000000001', '0.000000000000000001'],
    ['1e18', '1000000000000000000'],
    ['15E-1', '1.5'],
    ['1.5e+3', '1500'],
    ['0x0', '0'],
    ['0XfF', '255'],
    [`0x${'f'.repeat(64)}`, String(2n ** 256n - 1n)],
    ['1e999', `1${'0'.repeat(999)}`],
    ['9'.repeat(400), '9'.repeat(400)],
  ]
  const none = [
    ...['9'.repeat(401), '1e1000', '', ' 1', '1\n', '1_000', '1,5', '.5', '5.', '0x', '-0x1', '0xg', '١'],
    ...['Infinity', '1n', 'true'],
  ]
  for (const text of none)
    it(`${JSON.stringify(text.slice(0, 30))} is none`, () => assert.equal(parseExact(text), undefined))
  for (const [text, shown] of cases)
    it(JSON.stringify(text.slice(0, 30)), () => {
      const number = parseExact(text)
      assert.equal(number && showExact(number), shown)
    })

  it('orders as fractions do, whatever their scales', () => {
    const exact = fc.record({ digits: fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), scale: fc.nat(30) })
    fc.assert(
      fc.property(exact, exact, (a, b) => {
        const [left, right] = [a.digits * 10n ** BigInt(b.scale), b.digits * 10n ** BigInt(a.scale)]
        assert.equal(Math.sign(compareExact(a, b)), left < right ? -1 : left > right ? 1 : 0)
        assert.deepEqual(parseExact(showExact(a)), simplifyExact(a))
        assert.equal(compareExact(a, simplifyExact(a)), 0)
        const [low, high] = [floorExact(a), ceilExact(a)]
        assert.ok(
          compareExact({ digits: low, scale: 0 }, a) <= 0 && compareExact({ digits: low + 1n, scale: 0 }, a) > 0,
        )
        assert.ok(
          compareExact({ digits: high, scale: 0 }, a) >= 0 && compareExact({ digits: high - 1n, scale: 0 }, a) < 0,
        )
      }),
      { seed: 1, numRuns: 2000 },
    )
  })
})

const A = '0xdAC17F958D2ee523a2206206994597C13D831ec7'
const B = '0x6B175474E89094C44Da98b954EedeAC495271d0F'
const HASH = `0x${'ab'.repeat(32)}`
const MAX = 2n ** 256n - 1n

describe('fields of a transaction', () => {
  const tx: Subject = {
    _source: {
      blockNumber: show.formatQuantity(17, show.asBigint),
      hash: HASH,
      from: A,
      to: null,
      gas: show.formatQuantity(2n ** 64n, show.asBigint),
      nonce: show.formatQuantity(0, show.asBigint),
      value: amount(1_500_000_000_000_000_001n, show.asBigint),
      v: '0x00',
      r: '0x1c',
      status: true,
      timestamp: 1_700_000_000,
      method: 'transfer',
      input: `0x${'5a'.repeat(300)}`,
      accessList: [
        { address: A, storageKeys: [HASH, '0x01'] },
        { address: B, storageKeys: [] },
      ],
      blobVersionedHashes: [HASH, '0x02'],
    },
  }
  const cases: Case[] = [
    ['blockNumber', '=', '17', true],
    ['blockNumber', '=', '0x11', true],
    ['blockNumber', '=', '17.0', true],
    ['blockNumber', '=', '1.7e1', true],
    ['blockNumber', '=', '17.5', false],
    ['blockNumber > num', '>', '16.999', true],
    ['blockNumber > raw', '=', '17', true],
    ['blockNumber > raw', '=', '0x0011', true],
    ['blockNumber > padded', '=', '17', false],
    ['blockNumber > num > num', '=', '17', false],
    ['blockNumber', '<', '-1', false],
    ['nonce', '=', '-0', true],
    ['nonce', '>=', '0', true],
    ['nonce', '>', '-1e-999', true],
    // Beyond 64 bits `num` is shown as null, and the integer is there all the same.
    ['gas', '=', '18446744073709551616', true],
    ['gas > num', '=', '18446744073709551616', true],
    ['gas', '>', '18446744073709551615', true],
    ['gas', '>', '18446744073709551616', false],
    ['value', '=', '1500000000000000001', true],
    // What a double would hold equal.
    ['value', '=', '1500000000000000000', false],
    ['value', '>', '1500000000000000000.9', true],
    ['value > coin', '>', '1.5', true],
    ['value > coin', '=', '1.5', false],
    ['value > coin', '=', '1.500000000000000001', true],
    ['value > coin', '<', '1.5000000000000000011', true],
    ['value > padded', '=', `0x${1_500_000_000_000_000_001n.toString(16).padStart(64, '0')}`, true],
    // An operand that is no number is compared as text.
    ['value', '=', 'abc', false],
    ['value', '<', 'abc', true],
    ['value', '=', ['abc', '', '1500000000000000001'], true],
    ['value', '=', [], false],
    ['value > coin', '=', ['1.4', '1.500000000000000001'], true],
    ['v', '=', '0', true],
    ['v', '=', '0x0', true],
    ['r', '=', '28', true],
    ['status', '=', 'true', true],
    ['status', '=', 'TRUE', false],
    ['status', '=', 'TRUE', true, { ignoreCase: true }],
    ['status', '=', '1', true],
    ['status', '=', '0x1', true],
    ['status', '=', 'false', false],
    ['status', '>', '0', true],
    ['timestamp', '>=', '1700000000', true],
    ['timestamp', '>', '1700000000', false],
    ['from', '=', A, true],
    ['from > raw', '=', A, true],
    ['from', '=', A.toLowerCase(), true],
    ['from', '=', A.toLowerCase(), true, { ignoreCase: true }],
    ['from', '=', `0X${A.slice(2).toUpperCase()}`, true, { ignoreCase: true }],
    // An address is no number, so that its integer finds nothing.
    ['from', '=', String(BigInt(A)), false],
    ['from', '>', '1', false],
    ['from', '<', '1', true],
    ['hash', '=', HASH, true],
    ['hash', '=', HASH.toUpperCase(), true],
    ['hash', '=', HASH.toUpperCase(), true, { ignoreCase: true }],
    ['hash', '=', String(BigInt(HASH)), false],
    // Longer than any index holds.
    ['input', '=', `0x${'5a'.repeat(300)}`, true],
    ['method', '=', 'transfer', true],
    ['method', '=', 'Transfer', false],
    ['method', '=', ['x', 'TRANSFER'], true, { ignoreCase: true }],
    ['to', '=', '', false],
    ['to', '=', 'null', false],
    ['to', '<', 'z', false],
    ['to', '>', '', false],
    ['publicKey', '>=', '', false],
    ['nothing', '>=', '', false],
    ['constructor', '>=', '', false],
    ['__proto__', '>=', '', false],
    ['value > constructor', '>=', '', false],
    ['', '>=', '', false],
    ['accessList', '>=', '', false],
    ['accessList > address', '=', B, true],
    ['accessList > 0 > address', '=', B, false],
    ['accessList > 1 > address > raw', '=', B, true],
    ['accessList > 2 > address', '=', B, false],
    ['accessList > storageKeys', '=', '0x01', true],
    ['accessList > storageKeys > 0', '=', '0x01', false],
    ['accessList > 0 > storageKeys > 1', '=', '0x01', true],
    ['accessList > address > 0', '=', A, false],
    ['blobVersionedHashes', '=', '0x02', true],
    ['blobVersionedHashes > 1', '=', '0x02', true],
    ['blobVersionedHashes > 0', '=', '0x02', false],
    ['blobVersionedHashes > x', '>=', '', false],
    // Arguments alone have a scaled value.
    ['value', '>', '0', false, { scaled: true }],
  ]
  it('compares', () => check(tx, cases, { kind: 'tx' }))

  it('orders text by code point, not by UTF-16 unit', () => {
    const named = (method: string): Subject => ({ _source: { method } })
    assert.equal(holds(named('\u{1f680}'), 'method', '>', '\uffee', { kind: 'tx' }), true)
    assert.equal(holds(named('\uffee'), 'method', '<', '\u{1f680}', { kind: 'tx' }), true)
    assert.equal(holds(named('a'), 'method', '>', '\ud800', { kind: 'tx' }), false)
  })
})

describe('times', () => {
  const log: Subject = { _source: { timestamp: '2025-01-01T00:09:12', topics: [HASH, `0x${'00'.repeat(32)}`] } }
  it('compares', () =>
    check(
      log,
      [
        ['timestamp', '=', '2025-01-01T00:09:12', true],
        ['timestamp', '=', String(Date.UTC(2025, 0, 1, 0, 9, 12) / 1000), true],
        ['timestamp', '>', '1735690151.5', true],
        ['timestamp', '>', '2025-01-01', true],
        ['timestamp', '<', '2025-01-02', true],
        ['timestamp', '=', '2025-01-01T00:09:12Z', false],
        ['topics', '=', HASH, true],
        ['topics > 1', '=', `0x${'00'.repeat(32)}`, true],
        // A topic is no number.
        ['topics > 1', '=', '0', false],
        ['topics > 3', '>=', '', false],
      ],
      { kind: 'log' },
    ))
})

/** An event's document as the store shows it. */
const eventOf = (signature: string, values: readonly unknown[], decimals: number | null = null): Subject => {
  const event = parseSignature(signature)
  const topics: string[] = [topicOf(event)]
  for (const [i, input] of event.inputs.entries())
    if (input.indexed)
      topics.push(
        /^(string|bytes|tuple)$|\]$/.test(input.type)
          ? (values[i] as Hex)
          : encodeAbiParameters([{ ...input }], [values[i]]),
      )
  const plain = event.inputs.flatMap((input, i) => (input.indexed ? [] : [{ input, value: values[i] }]))
  const data = encodeAbiParameters(
    plain.map(({ input }) => ({ ...input })),
    plain.map(({ value }) => value),
  )
  const { args, error } = createEventDecoder(event)(topics, data)
  assert.equal(error, null)
  return {
    _source: {
      event: event.name,
      args: args!.map(({ name, pos, type, hex, int }) => ({
        name,
        pos,
        value: {
          hex: type === 'address' ? show.formatAddress(hex) : hex,
          num: int === null ? null : show.formatLong(int, show.asBigint),
          scaled: int === null || decimals === null || type === 'bool' ? null : show.scaled(int, decimals),
          type,
        },
      })),
    },
    decoding: { inputs: event.inputs, decimals },
  }
}

describe('arguments of an event', () => {
  it('compares integers exactly, to their last bit', () => {
    const event = eventOf(
      'Ints(uint256 indexed big, uint8 small, int24 tick, int256 least, bool yes, uint256, int8 indexed minus)',
      [MAX, 7, -8388608, -(2n ** 255n), true, 2n ** 64n, -1],
      6,
    )
    check(event, [
      ['event', '=', 'Ints', true],
      ['event > raw', '=', 'Ints', true],
      ['event', '=', 'INTS', true, { ignoreCase: true }],
      ['args', '>=', '', false],
      ['args > big', '=', String(MAX), true],
      ['args > big', '=', `0x${'F'.repeat(64)}`, true],
      ['args > big', '>', String(MAX - 1n), true],
      ['args > big', '>=', `${MAX}.1`, false],
      ['args > big > num', '=', String(MAX), true],
      ['args > small', '=', '7', true],
      ['args > small', '=', '07.00', true],
      ['args > small', '<', '7.000000000000000000000000000001', true],
      ['args > tick', '=', '-8388608', true],
      ['args > tick', '<', '0', true],
      ['args > tick > num', '<=', '-8388608', true],
      // As it is shown, in two's complement.
      ['args > tick > hex', '=', '0x800000', true],
      ['args > tick > hex', '=', '-8388608', false],
      ['args > tick', '=', '0x800000', false],
      ['args > least', '=', String(-(2n ** 255n)), true],
      ['args > least', '<', String(-(2n ** 255n) + 1n), true],
      ['args > minus', '=', '-1', true],
      ['args > minus > value > hex', '=', '0xff', true],
      ['args > yes', '=', 'true', true],
      ['args > yes', '=', '1', true],
      ['args > yes > num', '=', '1', true],
      ['args > yes > num', '=', 'true', false],
      ['args > yes > hex', '=', '0x1', true],
      ['args > yes > scaled', '>=', '0', false],
      ['args > yes', '>=', '0', false, { scaled: true }],
      // Without a name it goes by its position.
      ['args > 5', '=', '18446744073709551616', true],
      ['args > 0', '=', String(MAX), true],
      ['args > ', '=', '18446744073709551616', true],
      ['args > 7', '>=', '', false],
      ['args > 999999999999999999999', '>=', '', false],
      ['args > big > type', '=', 'uint256', true],
      ['args > big > value > type', '=', 'UINT256', true, { ignoreCase: true }],
      ['args > big > value', '=', String(MAX), true],
      ['args > big > type > hex', '>=', '', false],
      ['args > big > nothing', '>=', '', false],
      ['args > big > 0', '>=', '', false],
      ['args > constructor', '>=', '', false],
      ['args > big', '=', 'abc', false],
    ])
  })

  it('compares scaled amounts exactly, where the decimals are known', () => {
    const transfer = 'Transfer(address indexed from, address indexed to, uint256 value)'
    const known = eventOf(transfer, [A, B, 1_000_000_000_000_000_000_000_001n], 18)
    const scaled = { scaled: true }
    check(known, [
      ['args > value', '>', '1000000', true, scaled],
      ['args > value', '=', '1000000', false, scaled],
      ['args > value', '=', '1000000.000000000000000001', true, scaled],
      ['args > value', '=', ['1', '1000000.0000000000000000010'], true, scaled],
      ['args > value', '<', '1000000.0000000000000000011', true, scaled],
      ['args > value', '<=', '0xf4240', false, scaled],
      ['args > value > scaled', '=', '1000000.000000000000000001', true],
      ['args > value > value > scaled', '>', '1e6', true],
      ['args > value > num', '>', '1e6', true, scaled],
      ['args > value > hex', '>=', '', false, scaled],
      ['args > from', '>=', '', false, scaled],
      ['args > value', '=', '1000000000000000000000001', true],
      // An address is compared as it is shown.
      ['args > to', '=', B, true],
      ['args > to', '=', B.toLowerCase(), true],
      ['args > to', '=', B.toLowerCase(), true, { ignoreCase: true }],
      ['args > to > hex', '=', B, true],
      ['args > to > num', '>=', '', false],
      ['args > to', '=', String(BigInt(B)), false],
    ])
    const whole = eventOf(transfer, [A, B, 5n], 0)
    check(whole, [['args > value', '=', '5.0', true, scaled]])
    for (const unknown of [eventOf(transfer, [A, B, 5n]), { _source: known._source }])
      check(unknown, [
        ['args > value', '>=', '', false, scaled],
        ['args > value > scaled', '>=', '0', false],
        ['args > value', '>=', '5', true],
      ])
  })

  it('compares text as it is and bytes as they are shown', () => {
    const event = eventOf(
      'Texts(string greeting, string number, string empty, bytes blob, bytes4 word, string indexed hashed, bytes broken)',
      ['Grüße 🚀 \u202e\0', '1000', '', '0x00FF', '0xa9059cbb', HASH, '0x'],
    )
    check(event, [
      ['args > greeting', '=', 'Grüße 🚀 \u202e\0', true],
      ['args > greeting', '=', 'GRÜßE 🚀 \u202e\0', true, { ignoreCase: true }],
      ['args > greeting', '=', 'Grüße \ud83d', false],
      ['args > greeting', '>', 'Grü', true],
      ['args > greeting > hex', '=', `0x${Buffer.from('Grüße 🚀 \u202e\0').toString('hex')}`, true],
      // A text is no number, even where it looks like one.
      ['args > number', '=', '1000', true],
      ['args > number', '=', '1000.0', false],
      ['args > number', '<', '9', true],
      ['args > empty', '=', '', true],
      ['args > empty', '<', '0', true],
      ['args > blob', '=', '0x00ff', true],
      ['args > blob', '=', '255', false],
      ['args > blob > hex', '=', '255', false],
      ['args > word', '=', '0xa9059cbb', true],
      ['args > word', '=', '0xA9059CBB', true],
      ['args > word', '=', '0xA9059CBB', true, { ignoreCase: true }],
      ['args > hashed', '=', HASH, true],
      ['args > hashed > type', '=', 'string', true],
      ['args > broken', '=', '0x', true],
    ])
    const invalid = eventOf('Raw(string text)', ['x'])
    ;(invalid._source.args as { value: { hex: string } }[])[0]!.value.hex = '0xff41'
    check(invalid, [['args > text', '=', '\ufffdA', true]])
  })

  it('steps into tuples and arrays', () => {
    const event = eventOf(
      'Shapes((address who, uint64 much)[] legs, (bytes4 a, string b, (int8 x, int8[2] ys) inner) pair, uint8[3] three, string[] words, (uint256 value, address hex, bool type) odd, uint256[] indexed far, (uint8 n)[][] deep)',
      [
        [
          { who: A, much: 5n },
          { who: B, much: 2n ** 63n },
        ],
        { a: '0x01020304', b: 'second', inner: { x: -3, ys: [1, -2] } },
        [1, 2, 255],
        ['one', 'two'],
        { value: 9n, hex: B, type: true },
        HASH,
        [[{ n: 1 }], [{ n: 2 }, { n: 3 }]],
      ],
      18,
    )
    check(event, [
      ['args > legs > who', '=', B, true],
      ['args > legs > who', '=', B.toLowerCase(), true, { ignoreCase: true }],
      ['args > legs > 0 > who', '=', B, false],
      ['args > legs > 1 > who', '=', B, true],
      ['args > legs > 1 > 0', '=', B, true],
      ['args > legs > 2 > who', '>=', '', false],
      ['args > legs > 99999999999 > who', '>=', '', false],
      ['args > legs > much', '>', '9223372036854775807', true],
      ['args > legs > much > type', '=', 'uint64', true],
      ['args > legs > nothing', '>=', '', false],
      ['args > legs > type', '=', '(address,uint64)[]', true],
      ['args > legs > num', '>=', '', false],
      ['args > pair > a', '=', '0x01020304', true],
      ['args > pair > 1', '=', 'second', true],
      ['args > pair > b > hex', '=', `0x${Buffer.from('second').toString('hex')}`, true],
      ['args > pair > inner > x', '=', '-3', true],
      ['args > pair > inner > ys > 1', '=', '-2', true],
      ['args > pair > inner > 1 > 1 > num', '<', '-1', true],
      ['args > pair > type', '=', '(bytes4,string,(int8,int8[2]))', true],
      ['args > three > 2', '=', '255', true],
      ['args > three > 3', '>=', '', false],
      ['args > three > 2 > hex', '=', '0xff', true],
      ['args > three', '=', '255', false],
      ['args > three', '=', `0x${[1, 2, 255].map(n => n.toString(16).padStart(64, '0')).join('')}`, true],
      ['args > words > 1', '=', 'two', true],
      // A component's name goes before that of a property.
      ['args > odd > value', '=', '9', true],
      ['args > odd > hex', '=', B, true],
      ['args > odd > type', '=', 'true', true],
      ['args > odd > num', '>=', '', false],
      // Of what is indexed there is only the hash.
      ['args > far', '=', HASH, true],
      ['args > far > 0', '>=', '', false],
      ['args > deep > n', '=', '3', true],
      ['args > deep > 1 > n', '=', '1', false],
      ['args > deep > 1 > 0 > n', '=', '2', true],
      // Documents show no scaled parts.
      ['args > legs > much', '>=', '0', false, { scaled: true }],
    ])
    check({ _source: event._source }, [
      ['args > legs > who', '>=', '', false],
      ['args > three > 2', '>=', '', false],
      ['args > three > type', '=', 'uint8[3]', true],
    ])
  })

  it('takes any of the arguments that share a name', () => {
    const event = eventOf('Twice(uint8 a, uint8 a, uint8 b)', [1, 2, 3])
    check(event, [
      ['args > a', '=', '1', true],
      ['args > a', '=', '2', true],
      ['args > a', '=', '3', false],
    ])
    assert.deepEqual(
      facesAt(['args', 'a'], false, 'event')(event).map(({ text }) => text),
      ['1', '2'],
    )
  })

  it('prefers a name of digits to the position', () => {
    const args = [
      { name: '1', pos: 0, value: { hex: '0x5', num: 5, scaled: null, type: 'uint8' } },
      { name: 'x', pos: 1, value: { hex: '0x6', num: 6, scaled: null, type: 'uint8' } },
    ]
    check({ _source: { args } }, [
      ['args > 1', '=', '5', true],
      ['args > 1', '=', '6', false],
      ['args > 0', '=', '5', true],
    ])
  })

  it('matches nothing where an event did not decode', () =>
    check({ _source: { args: [], error: 'because' }, decoding: { inputs: [], decimals: null } }, [
      ['args > 0', '>=', '', false],
      ['error', '=', 'because', true],
    ]))
})

describe('any document and any condition', () => {
  it('is answered without a fault', () => {
    const event = eventOf('Shapes((address who, uint64 much)[] legs, string text)', [[{ who: A, much: 5n }], 'x'])
    const step = fc.oneof(
      fc.constantFrom('args', 'legs', 'who', '0', 'hex', 'value', '__proto__', 'constructor', 'length', '9'.repeat(30)),
      fc.string({ unit: 'binary', maxLength: 5 }),
    )
    const operand = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\ud800', '\udfff', '0x', 'x'.repeat(100_000), '9'.repeat(100_000), '1e-999'),
    )
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 6 }),
        fc.constantFrom(...(Object.keys(HOW) as (keyof typeof HOW)[])),
        fc.array(operand, { maxLength: 3 }),
        fc.boolean(),
        fc.boolean(),
        (steps, sign, operands, ignoreCase, scaled) => {
          const node: CompareNode = {
            op: 'compare',
            kind: 'event',
            steps,
            how: HOW[sign],
            operands: operands.map(operandOf),
            ignoreCase,
            scaled,
          }
          assert.equal(typeof compileCompare(node)(event), 'boolean')
        },
      ),
      { seed: 1, numRuns: 3000 },
    )
  })
})
