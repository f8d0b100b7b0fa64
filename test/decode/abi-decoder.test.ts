import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { type AbiEvent, decodeEventLog, encodeAbiParameters, encodeEventTopics, getAddress, type Hex } from 'viem'
import { createEventDecoder, decodeParts } from '../../src/decode/abi-decoder.ts'
import { renderEvent } from '../../src/decode/render.ts'
import { formatSignature, parseSignature, topicOf } from '../../src/decode/signature.ts'
import type { AbiParam, EventAbi } from '../../src/decode/types.ts'
import { encoded, expected, hexOf, isHashed, typed, viemParam, viemValues } from '../support/abi.ts'
import { processorTime } from '../support/processor.ts'

const word = (value: bigint | number) => BigInt.asUintN(256, BigInt(value)).toString(16).padStart(64, '0')
const hexWord = (value: bigint | number): Hex => `0x${word(value)}`
const decode = (signature: string, topics: readonly string[], data: string) => {
  const event = parseSignature(signature)
  return createEventDecoder(event)([topicOf(event), ...topics], data)
}

interface Sample {
  event: EventAbi
  values: unknown[]
  topics: Hex[]
  data: Hex
}

const topicOfValue = (param: AbiParam, value: unknown): Hex =>
  isHashed(param) ? (value as Hex) : encoded(param, value)

const sample: fc.Arbitrary<Sample> = fc
  .tuple(fc.array(fc.tuple(typed, fc.boolean()), { maxLength: 5 }), fc.boolean())
  .chain(([list, anonymous]) => {
    let room = anonymous ? 4 : 3
    const inputs = list.map(([item, wanted], i) => {
      const indexed = wanted && room-- > 0
      const param: AbiParam = { ...item.param, name: i === 1 ? '' : `arg${i}`, ...(indexed && { indexed }) }
      return { param, value: indexed && isHashed(param) ? hexOf(32) : item.value }
    })
    const event: EventAbi = {
      name: 'Sample',
      inputs: inputs.map(({ param }) => param),
      ...(anonymous && { anonymous }),
    }
    return fc.tuple(...inputs.map(({ value }) => value)).map((values): Sample => {
      const pairs = event.inputs.map((param, i) => ({ param, value: values[i] }))
      const plain = pairs.filter(({ param }) => !param.indexed)
      return {
        event,
        values,
        topics: [
          ...(anonymous ? [] : [topicOf(event) as Hex]),
          ...pairs.filter(({ param }) => param.indexed).map(({ param, value }) => topicOfValue(param, value)),
        ],
        data: encodeAbiParameters(
          plain.map(({ param }) => viemParam(param)),
          plain.map(({ value }) => value),
        ),
      }
    })
  })

test('random logs of random events decode to what viem encoded', () => {
  fc.assert(
    fc.property(sample, ({ event, values, topics, data }) => {
      assert.deepEqual(createEventDecoder(event)(topics, data), {
        args: event.inputs.map((param, i) => expected(param, i, values[i])),
        error: null,
      })
    }),
    { numRuns: 1000 },
  )
})

test('letter case makes no difference', () => {
  fc.assert(
    fc.property(sample, ({ event, topics, data }) => {
      const decoder = createEventDecoder(event)
      const upper = (hex: string) => `0x${hex.slice(2).toUpperCase()}`
      assert.deepEqual(decoder(topics.map(upper), upper(data)), decoder(topics, data))
    }),
  )
})

test('parts of arrays and tuples are what viem encoded', () => {
  fc.assert(
    fc.property(
      typed.chain(({ param, value }) => value.map(one => ({ param, value: one }))),
      ({ param, value }) => {
        const parts = decodeParts(param, expected(param, 0, value).hex)
        const array = /^(.*)\[\d*\]$/.exec(param.type)
        const want = array
          ? (value as unknown[]).map((item, i) => expected({ ...param, type: array[1]! }, i, item))
          : (param.components ?? []).map((component, i) =>
              expected(component, i, (value as Record<string, unknown>)[component.name]),
            )
        assert.deepEqual(parts, want)
        assert.deepEqual(decodeParts(param, expected(param, 0, value).hex, 2), want.slice(0, 2))
      },
    ),
    { numRuns: 500 },
  )
})

/** A log's data with one thing wrong, or merely different. */
const damaged = fc
  .tuple(sample, fc.nat(), fc.nat(), fc.constantFrom('cut', 'extend', 'word', 'digit', 'size', 'swap'))
  .map(([one, a, b, how]) => {
    const digits = one.data.slice(2)
    const words = digits.match(/.{64}/g) ?? []
    const i = words.length === 0 ? 0 : a % words.length
    if (how === 'cut') return { ...one, data: `0x${digits.slice(0, 2 * (a % (digits.length / 2 + 1)))}` as Hex }
    if (how === 'extend') return { ...one, data: `0x${digits}${'00'.repeat((a % 64) + 1)}` as Hex }
    if (how === 'digit') {
      const at = digits.length === 0 ? 0 : a % digits.length
      return { ...one, data: `0x${digits.slice(0, at)}${(b % 16).toString(16)}${digits.slice(at + 1)}` as Hex }
    }
    if (how === 'swap') words.reverse()
    else words[i] = how === 'size' ? word(32 * (b % (words.length + 2))) : word(-BigInt(b))
    return { ...one, data: `0x${words.join('')}` as Hex }
  })

test('damaged data is refused, or decodes as viem decodes it', () => {
  let accepted = 0
  let refused = 0
  fc.assert(
    fc.property(damaged, ({ event, topics, data }) => {
      const params = event.inputs.filter(param => !param.indexed)
      const result = createEventDecoder(event)(topics, data)
      const theirs = viemValues(params, data)
      if (result.args) {
        accepted++
        assert.ok(theirs, `viem refuses ${formatSignature(event)} ${data}`)
        const plain = result.args.filter(arg => !event.inputs[arg.pos]!.indexed)
        const want = params.map((param, i) => expected(param, event.inputs.indexOf(param), theirs[i]))
        // viem turns what is no UTF-8 into replacement characters.
        for (const [i, arg] of plain.entries()) if (!/string/.test(arg.type)) assert.deepEqual(arg, want[i])
      } else {
        refused++
        assert.equal(typeof result.error, 'string')
        const same = theirs !== null && reencodes(params, theirs, data)
        assert.equal(same, false, `${formatSignature(event)} ${data}: ${result.error}`)
      }
    }),
    { numRuns: 2000 },
  )
  assert.ok(accepted > 100 && refused > 100, `${accepted} accepted, ${refused} refused`)
})

const reencodes = (params: AbiParam[], values: readonly unknown[], data: string): boolean => {
  try {
    return encodeAbiParameters(params.map(viemParam), values) === data.toLowerCase()
  } catch {
    return false
  }
}

test('nothing that is thrown at a decoder makes it throw', () => {
  const hexish = fc.oneof(
    fc.string(),
    hexOf(0, 300),
    fc
      .array(fc.oneof(fc.nat(400), fc.bigInt({ min: 0n, max: (1n << 256n) - 1n })), { maxLength: 12 })
      .map(words => `0x${words.map(word).join('')}`),
  )
  fc.assert(
    fc.property(sample, fc.array(hexish, { maxLength: 5 }), hexish, ({ event, topics }, others, data) => {
      const decoder = createEventDecoder(event)
      for (const { args, error } of [decoder(others, data), decoder(topics, data)])
        assert.equal(args === null, typeof error === 'string')
    }),
    { numRuns: 2000 },
  )
})

// --- By hand.

test('every kind of value, as it is shown', () => {
  const event = parseSignature(
    'E(address indexed a, int24 indexed b, string indexed c, bool d, bytes3 e, function f, string g, bytes)',
  )
  const data = encodeAbiParameters(
    [{ type: 'bool' }, { type: 'bytes3' }, { type: 'bytes24' }, { type: 'string' }, { type: 'bytes' }],
    [true, '0xabcdef', `0x${'12'.repeat(24)}`, 'é', '0x00ff'],
  )
  const hash = `0x${'ab'.repeat(32)}`
  const { args } = createEventDecoder(event)([topicOf(event), hexWord(0xc0ffeen), hexWord(-2), hash], data)
  assert.deepEqual(args, [
    { name: 'a', pos: 0, type: 'address', hex: '0x0000000000000000000000000000000000c0ffee', int: null },
    { name: 'b', pos: 1, type: 'int24', hex: '0xfffffe', int: -2n },
    { name: 'c', pos: 2, type: 'string', hex: hash, int: null },
    { name: 'd', pos: 3, type: 'bool', hex: '0x1', int: 1n },
    { name: 'e', pos: 4, type: 'bytes3', hex: '0xabcdef', int: null },
    { name: 'f', pos: 5, type: 'function', hex: `0x${'12'.repeat(24)}`, int: null },
    { name: 'g', pos: 6, type: 'string', hex: '0xc3a9', int: null },
    { name: '', pos: 7, type: 'bytes', hex: '0x00ff', int: null },
  ])
})

test('a word that is no value of its type is refused', () => {
  for (const [type, value, reason] of [
    ['address', 1n << 160n, 'it is longer than an address'],
    ['bool', 2n, 'it is neither 0 nor 1'],
    ['uint8', 256n, 'it has more than 8 bits'],
    ['uint248', 1n << 248n, 'it has more than 248 bits'],
    ['int8', 128n, 'it has more than 8 bits'],
    ['int8', -129n, 'it has more than 8 bits'],
    ['int8', (1n << 256n) - (1n << 200n), 'it has more than 8 bits'],
    ['bytes4', 1n, 'it has more than 4 bytes'],
    ['bytes31', 0xabn, 'it has more than 31 bytes'],
    ['function', 1n, 'it has more than 24 bytes'],
  ] as const) {
    const error = { args: null, error: `argument x: ${reason}` }
    assert.deepEqual(decode(`E(${type} x)`, [], hexWord(value)), error, type)
    assert.deepEqual(decode(`E(${type} indexed x)`, [hexWord(value)], '0x'), error, type)
    assert.deepEqual(
      decode(`E((bool, ${type} y)[] x)`, [], `0x${word(32)}${word(1)}${word(1)}${word(value)}`),
      { args: null, error: `argument x[].y: ${reason}` },
      type,
    )
  }
})

test('a log that is not as declared is refused with its reason', () => {
  const transfer = 'Transfer(address indexed from, address indexed to, uint256 value)'
  const one = hexWord(1)
  const cases: [signature: string, topics: string[], data: string, error: string][] = [
    [transfer, [one], one, 'the log does not have the 3 topics of the declaration'],
    [transfer, [one, one, one], '0x', 'the log does not have the 3 topics of the declaration'],
    [transfer, [one, '0x01'], one, 'topic 2 is not 32 bytes of hex'],
    [transfer, [one.replace('1', 'g'), one], one, 'topic 1 is not 32 bytes of hex'],
    [transfer, [one, one], '0x', 'the data is shorter than the 32 bytes it must have'],
    [transfer, [one, one], `${one}${word(0)}`, 'the data is longer than the 32 bytes it must have'],
    [transfer, [one, one], '0x0', 'the data has half a byte'],
    [transfer, [one, one], '01', 'the data is not hex'],
    [transfer, [one, one], '0xzz', 'the data is not hex'],
    ['E(string s)', [], '0x', 'the data is shorter than the 32 bytes it must have'],
    ['E(string s)', [], `0x${word(32)}`, 'argument s: its offset points beyond the data'],
    ['E(string s)', [], `0x${word(64)}`, 'argument s: its offset points beyond the data'],
    ['E(string s)', [], `0x${word(1n << 255n)}`, 'argument s: its offset points beyond the data'],
    ['E(string s)', [], `0x${word(32)}${word(1)}`, 'argument s: it is longer than the data'],
    ['E(string s)', [], `0x${word(32)}${word(1n << 64n)}`, 'argument s: it is longer than the data'],
    ['E(uint8[] l)', [], `0x${word(32)}${word(1n << 255n)}`, 'argument l: the data ends inside it'],
    ['E(uint8[] l)', [], `0x${word(31)}00`, 'argument l: the data ends inside it'],
    ['E(uint8[],bool)', [], `0x${word(64)}${word(2)}${word(0)}`, 'argument 1: it is neither 0 nor 1'],
    ['E(string s)', [], `0x${word(32)}${word(0)}${word(0)}`, 'the data has bytes that belong to no argument'],
    ['E(string s)', [], `0x${word(64)}${word(0)}${word(0)}`, 'the data has bytes that belong to no argument'],
  ]
  for (const [signature, topics, data, error] of cases)
    assert.deepEqual(decode(signature, topics, data), { args: null, error }, `${signature} ${data}`)

  const event = parseSignature('E(uint256 x)')
  assert.deepEqual(createEventDecoder(event)([hexWord(5)], one), {
    args: null,
    error: 'the first topic belongs to another event',
  })
  assert.deepEqual(createEventDecoder({ ...event, anonymous: true })([hexWord(5)], one), {
    args: null,
    error: 'the log does not have the 0 topics of the declaration',
  })
})

test('encodings that are not canonical decode where every byte belongs to a value', () => {
  const text = `${word(1)}${'61'.padEnd(64, '0')}`
  const strings = (data: string) => decode('E(string a, string b)', [], data).args?.map(arg => arg.hex) ?? null
  // Tails in reverse.
  assert.deepEqual(strings(`0x${word(128)}${word(64)}${word(1)}${'62'.padEnd(64, '0')}${text}`), ['0x61', '0x62'])
  // One tail for both.
  assert.deepEqual(strings(`0x${word(64)}${word(64)}${text}`), ['0x61', '0x61'])
  // The last tail without padding, and with padding that is not zero.
  assert.deepEqual(strings(`0x${word(64)}${word(128)}${text}${word(1)}62`), ['0x61', '0x62'])
  assert.deepEqual(strings(`0x${word(64)}${word(128)}${text}${word(1)}${'62'.padEnd(64, 'f')}`), ['0x61', '0x62'])
  // A gap.
  assert.deepEqual(strings(`0x${word(64)}${word(160)}${text}${word(0)}${text}`), null)
  // Arrays and tuples are shown in their canonical encoding.
  assert.deepEqual(decode('E((string x, string y) t)', [], `0x${word(32)}${word(64)}${word(64)}${text}`).args, [
    {
      name: 't',
      pos: 0,
      type: '(string,string)',
      hex: `0x${word(32)}${word(64)}${word(128)}${text}${text}`,
      int: null,
    },
  ])
})

test('arrays that share their elements cannot unfold to more than memory holds', () => {
  // Every word is a length as well as an offset to such a word, so that each array holds 96 arrays.
  const list = Array(400).fill(word(96)).join('')
  const start = processorTime()
  for (const type of ['uint256[][][][]', 'string[][][][]', '(bytes, bytes)[][][]'])
    assert.match(
      decode(`E(${type} l)`, [], `0x${word(32)}${list}`).error!,
      /^argument l[^:]*: it expands to more than 8 times the data$/,
    )
  assert.ok(processorTime() - start < 1000)
})

test('a declaration that cannot be decoded says so for every log', () => {
  const input = (type: string, components?: AbiParam[]): EventAbi => ({
    name: 'E',
    inputs: [{ name: 'x', type, ...(components && { components }) }],
  })
  let nested: AbiParam = { name: '', type: 'bool' }
  for (let i = 0; i < 1000; i++) nested = { name: '', type: 'tuple', components: [nested] }
  for (const [event, reason] of [
    [input('fixed128x18'), 'its type fixed128x18 is not one that Solidity encodes'],
    [input('uint7'), 'its type uint7 is not one that Solidity encodes'],
    [input('IERC20'), 'its type IERC20 is not one that Solidity encodes'],
    [input(''), 'its type  is not one that Solidity encodes'],
    [input('uint8[0]'), 'its array has no elements'],
    [input('tuple'), 'its tuple has no components'],
    [input('tuple[]', []), 'its tuple has no components'],
    [input(`uint8${'[]'.repeat(1000)}`), 'its type is nested more than 32 deep'],
    [input('tuple', [nested]), 'its type is nested more than 32 deep'],
    [input(`uint8${'[99999999999999999999]'.repeat(20)}`), 'its type is larger than any data'],
    [
      input('tuple', [
        { name: 'y', type: 'bool[4294967296]' },
        { name: 'z', type: 'bool' },
      ]),
      'its type is larger than any data',
    ],
  ] as const)
    assert.deepEqual(createEventDecoder(event)([], '0x'), { args: null, error: `argument x: ${reason}` })

  const large = createEventDecoder(input('uint8[4000000000]'))
  assert.equal(
    large([topicOf(input('uint8[4000000000]'))], '0x').error,
    'the data is shorter than the 128000000000 bytes it must have',
  )
})

test('an array of 2^255 elements of any size is refused at once', () => {
  const start = processorTime()
  for (const type of ['uint8[]', 'string[]', 'uint8[3][]', '(bool)[]', 'bytes[][]'])
    assert.equal(
      decode(`E(${type} x)`, [], `0x${word(32)}${word(1n << 255n)}${word(0)}`).error,
      'argument x: the data ends inside it',
    )
  assert.ok(processorTime() - start < 1000)
})

test('decoding into parts takes nothing that has none', () => {
  assert.deepEqual(decodeParts({ name: '', type: 'uint8' }, '0x1'), [])
  assert.deepEqual(decodeParts({ name: '', type: 'uint8[]', indexed: true }, hexWord(32)), [])
  for (const hex of ['', '0x', '0x12', 'zz', hexWord(1n << 200n), `${hexWord(32)}${word(1n << 200n)}`])
    for (const type of ['uint8[]', 'uint8[2]', 'string[]', 'string[2]', 'nonsense'])
      assert.deepEqual(decodeParts({ name: '', type }, hex), [], `${type} ${hex}`)
})

// --- Rendering.

const rendered = (signature: string, values: unknown[]): string => {
  const event = parseSignature(signature)
  const { args, error } = createEventDecoder(event)(
    [topicOf(event)],
    encodeAbiParameters(event.inputs.map(viemParam), values),
  )
  assert.equal(error, null)
  return renderEvent(event, args!)
}

test('an event reads like a call', () => {
  const holder = '0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'
  assert.equal(
    rendered('Transfer(address from, address, uint256 value)', [holder, holder, 1000n]),
    `Transfer(from=${getAddress(holder)}, 1=${getAddress(holder)}, value=1000)`,
  )
  assert.equal(
    rendered('E(int8 a, bool b, bool, bytes4 c, bytes d, uint256[] e, (uint8 x, (bool y, string)[2] z) f, string g)', [
      -5,
      true,
      false,
      '0x12345678',
      '0x',
      [1n, 2n],
      {
        x: 7,
        z: [
          [true, 'p'],
          [false, 'q'],
        ].map(([y, s]) => ({ y, 1: s, '': s })),
      },
      'hi',
    ]),
    'E(a=-5, b=true, 2=false, c=0x12345678, d=0x, e=[1, 2], f=(x=7, z=[(y=true, 1="p"), (y=false, 1="q")]), g="hi")',
  )
  assert.equal(rendered('E()', []), 'E()')
  assert.equal(rendered('E(string[] l)', [[]]), 'E(l=[])')
})

test('an indexed dynamic argument reads as its hash', () => {
  const event = parseSignature('E(string indexed s, uint8[] indexed l, (bool x) indexed t)')
  const { args } = createEventDecoder(event)([topicOf(event), hexWord(1), hexWord(2), hexWord(3)], '0x')
  assert.equal(renderEvent(event, args!), `E(s=${hexWord(1)}, l=${hexWord(2)}, t=${hexWord(3)})`)
})

test('text from the chain cannot break out of its quotes or steer what shows it', () => {
  assert.equal(
    rendered('E(string s)', ['a"b\\c\n\u0000\u001b[2J\u007f\u009b1m\u202edcba\u200b\u2028\ufeff\u{e0041}é😀']),
    'E(s="a\\"b\\\\c\\n\\u0000\\u001b[2J\\u007f\\u009b1m\\u202edcba\\u200b\\u2028\\ufeff\\udb40\\udc41é😀")',
  )
})

test('text that is no UTF-8 is shown with replacement characters and kept as it is', () => {
  const event = parseSignature('E(string s)')
  const { args } = createEventDecoder(event)([topicOf(event)], `0x${word(32)}${word(2)}${'61ff'.padEnd(64, '0')}`)
  assert.deepEqual(args, [{ name: 's', pos: 0, type: 'string', hex: '0x61ff', int: null }])
  assert.equal(renderEvent(event, args!), 'E(s="a\ufffd")')
})

test('what is too long ends with an ellipsis', () => {
  const cutText = rendered('E(string a, bytes b, uint256[] c, bool d)', [
    '😀'.repeat(5000),
    `0x${'ab'.repeat(5000)}`,
    Array(5000).fill(7n),
    true,
  ])
  const parts = /^E\(a="((?:😀)+)…, b=0x((?:ab)+)a?…, c=\[(7(?:, 7)*,? ?)…, d=true\)$/u.exec(cutText)
  assert.ok(parts, cutText)
  assert.ok(cutText.length < 800)

  const many = rendered(`E(${Array(50).fill('uint256').join(', ')})`, Array(50).fill((1n << 256n) - 1n))
  assert.equal(many.length, 1000)
  assert.ok(many.endsWith('…'))
})

// --- Real logs.

const blocks = new URL('../../../shared/mainnet/blocks.ndjson.gz', import.meta.url)

interface Log {
  topics: Hex[]
  data: Hex
}

test('logs of mainnet decode as viem decodes them', { skip: !existsSync(blocks) && 'no recorded blocks' }, () => {
  const known = new Map<string, EventAbi>()
  for (const line of readFileSync(new URL('../../data/events.txt', import.meta.url), 'utf8').split('\n')) {
    if (!line.startsWith('0x')) continue
    const event = parseSignature(line.slice(67))
    // viem gives arguments by name, and all of them only where no two are the same.
    const inputs = event.inputs.map((input, i) => ({ ...input, name: `arg${i}` }))
    known.set(`${line.slice(0, 66)}/${inputs.filter(input => input.indexed).length}`, { ...event, inputs })
  }
  const logs = gunzipSync(readFileSync(blocks))
    .toString()
    .trim()
    .split('\n')
    .flatMap(line => (JSON.parse(line) as { receipts: { logs: Log[] }[] }).receipts.flatMap(({ logs }) => logs))
  let compared = 0
  const seen = new Set<EventAbi>()
  for (const { topics, data } of logs) {
    const event = known.get(`${topics[0]}/${topics.length - 1}`)
    if (event === undefined) continue
    const abi = [{ type: 'event', ...event }] as unknown as AbiEvent[]
    const { args } = decodeEventLog({ abi, topics: topics as [Hex], data }) as unknown as {
      args: Record<string, unknown>
    }
    assert.deepEqual(createEventDecoder(event)(topics, data), {
      args: event.inputs.map((param, i) => expected(param, i, args[param.name])),
      error: null,
    })
    compared++
    seen.add(event)
  }
  assert.ok(compared > 880 && seen.size > 50, `${compared} of ${logs.length} logs, ${seen.size} events`)
})

test('topics of random events are those of viem', () => {
  fc.assert(
    fc.property(sample, ({ event, topics, values }) => {
      if (event.anonymous || event.inputs.some(input => input.indexed && isHashed(input))) return
      const abi = [{ type: 'event', ...event, inputs: event.inputs.map((input, i) => ({ ...input, name: `n${i}` })) }]
      const args = Object.fromEntries(event.inputs.flatMap((input, i) => (input.indexed ? [[`n${i}`, values[i]]] : [])))
      assert.deepEqual(encodeEventTopics({ abi: abi as unknown as AbiEvent[], eventName: 'Sample', args }), topics)
    }),
  )
})
