import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type AbiEvent, type AbiFunction, parseAbiItem, toEventSelector, toFunctionSelector } from 'viem'
import {
  canonicalSignature,
  canonicalType,
  formatSignature,
  fullType,
  parseSignature,
  selectorOf,
  topicOf,
} from '../../src/decode/signature.ts'
import type { AbiParam, EventAbi } from '../../src/decode/types.ts'
import { ChainsieveError } from '../../src/lib/errors.ts'

test('an event is read with its arguments', () => {
  const transfer: EventAbi = {
    name: 'Transfer',
    inputs: [
      { name: 'from', type: 'address', indexed: true },
      { name: 'to', type: 'address', indexed: true },
      { name: 'value', type: 'uint256' },
    ],
  }
  for (const text of [
    'Transfer(address indexed from, address indexed to, uint256 value)',
    'event Transfer(address indexed from, address indexed to, uint value);',
    '  event\tTransfer (address  indexed from,address indexed to,uint256 value) ;\n',
    'Transfer(address payable indexed from, address indexed to, uint256 value)',
  ])
    assert.deepEqual(parseSignature(text), transfer, text)
  assert.equal(canonicalSignature(transfer), 'Transfer(address,address,uint256)')
  assert.equal(topicOf(transfer), '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef')
  assert.equal(formatSignature(transfer), 'Transfer(address indexed from, address indexed to, uint256 value)')
})

test('tuples, arrays, aliases, unnamed arguments and anonymous events are read', () => {
  assert.deepEqual(
    parseSignature('E((address a, uint256[2] b)[] items, tuple(bool, (int x) y)[3][] indexed t, uint) anonymous'),
    {
      name: 'E',
      inputs: [
        {
          name: 'items',
          type: 'tuple[]',
          components: [
            { name: 'a', type: 'address' },
            { name: 'b', type: 'uint256[2]' },
          ],
        },
        {
          name: 't',
          type: 'tuple[3][]',
          components: [
            { name: '', type: 'bool' },
            { name: 'y', type: 'tuple', components: [{ name: 'x', type: 'int256' }] },
          ],
          indexed: true,
        },
        { name: '', type: 'uint256' },
      ],
      anonymous: true,
    },
  )
  assert.deepEqual(parseSignature('E()'), { name: 'E', inputs: [] })
  assert.deepEqual(
    parseSignature('E(uint,int[],byte,fixed,ufixed[2],function,string,bytes)').inputs.map(input => input.type),
    ['uint256', 'int256[]', 'bytes1', 'fixed128x18', 'ufixed128x18[2]', 'function', 'string', 'bytes'],
  )
  assert.equal(
    canonicalSignature(parseSignature('E((address a, (uint b, bytes c)[2] d)[] items, byte)')),
    'E((address,(uint256,bytes)[2])[],bytes1)',
  )
})

test('words of the language may be names, as Vyper allows', () => {
  assert.deepEqual(
    parseSignature('E(uint256 memory, bool indexed indexed, (bool storage) event, string anonymous)').inputs,
    [
      { name: 'memory', type: 'uint256' },
      { name: 'indexed', type: 'bool', indexed: true },
      { name: 'event', type: 'tuple', components: [{ name: 'storage', type: 'bool' }] },
      { name: 'anonymous', type: 'string' },
    ],
  )
})

test('a function is read with its outputs', () => {
  const transfer = {
    name: 'transfer',
    inputs: [
      { name: 'to', type: 'address' },
      { name: '', type: 'uint256' },
    ],
    outputs: [{ name: '', type: 'bool' }],
  }
  for (const text of [
    'function transfer(address to, uint256) external returns (bool)',
    'transfer(address payable to, uint) public virtual override nonpayable returns (bool);',
  ])
    assert.deepEqual(parseSignature(text, 'function'), transfer, text)
  assert.equal(selectorOf(parseSignature('transfer(address,uint256)', 'function')), '0xa9059cbb')
  assert.deepEqual(parseSignature('f(uint256[] calldata list, (string s) memory t)', 'function'), {
    name: 'f',
    inputs: [
      { name: 'list', type: 'uint256[]' },
      { name: 't', type: 'tuple', components: [{ name: 's', type: 'string' }] },
    ],
    outputs: [],
  })
})

test('what is no signature is refused with the place', () => {
  const remedy = '; write it like Transfer(address indexed from, address indexed to, uint256 value)'
  const types = ' (a contract is an address, an enum uint8, a struct its components)'
  const cases: [text: string, message: string][] = [
    ['', 'a name is expected, not the end, at character 1 of ""'],
    ['  ', 'a name is expected, not the end, at character 3 of "  "'],
    ['event', 'a name is expected, not the end, at character 6 of "event"'],
    ['Transfer', '"(" is expected, not the end, at character 9 of "Transfer"'],
    ['1E()', 'a name is expected, not "1", at character 1 of "1E()"'],
    ['function f()', 'an event is expected, not "function", at character 1 of "function f()"'],
    ['E(', 'a type is expected, not the end, at character 3 of "E("'],
    ['E(,)', 'a type is expected, not ",", at character 3 of "E(,)"'],
    ['E(bool,)', 'a type is expected, not ")", at character 8 of "E(bool,)"'],
    ['E(bool', '")" is expected, not the end, at character 7 of "E(bool"'],
    ['E(bool a b)', '")" is expected, not "b", at character 10 of "E(bool a b)"'],
    ['E(bool) x', 'the end is expected, not "x", at character 9 of "E(bool) x"'],
    ['E(bool));', 'the end is expected, not ")", at character 8 of "E(bool));"'],
    ['E(IERC20 t)', `a type is expected, not "IERC20"${types}, at character 3 of "E(IERC20 t)"`],
    ['E(uint7 t)', `a type is expected, not "uint7"${types}, at character 3 of "E(uint7 t)"`],
    ['E(uint264)', `a type is expected, not "uint264"${types}, at character 3 of "E(uint264)"`],
    ['E(uint08)', `a type is expected, not "uint08"${types}, at character 3 of "E(uint08)"`],
    ['E(bytes33)', `a type is expected, not "bytes33"${types}, at character 3 of "E(bytes33)"`],
    ['E(fixed8x81)', `a type is expected, not "fixed8x81"${types}, at character 3 of "E(fixed8x81)"`],
    ['E(uint8x8)', `a type is expected, not "uint8x8"${types}, at character 3 of "E(uint8x8)"`],
    ['E(tuple t)', '"(" is expected, not "t", at character 9 of "E(tuple t)"'],
    ['E(() t)', 'a tuple needs components, at character 4 of "E(() t)"'],
    ['E(bool[0])', 'an array\'s length is expected, not "0", at character 8 of "E(bool[0])"'],
    ['E(bool[-1])', 'an array\'s length is expected, not "-", at character 8 of "E(bool[-1])"'],
    ['E(bool[1)', '"]" is expected, not ")", at character 9 of "E(bool[1)"'],
    ['E((bool indexed a) t)', '")" is expected, not "a", at character 17 of "E((bool indexed a) t)"'],
    ['É()', 'a name is expected, not "É", at character 1 of "É()"'],
  ]
  for (const [text, message] of cases)
    assert.throws(
      () => parseSignature(text),
      { next: 'refuse', code: 'bad_signature', message: message + remedy },
      text,
    )
  assert.throws(() => parseSignature('event E()', 'function'), {
    message: /^a function is expected, not "event", at character 1/,
  })
  assert.throws(() => parseSignature('f(bool indexed x)', 'function'), {
    message: /^"\)" is expected, not "x", at character 16/,
  })
  assert.throws(() => parseSignature('f() returns', 'function'), { message: /^"\(" is expected, not the end/ })

  const four = '(bool indexed, bool indexed, bool indexed, bool indexed)'
  assert.throws(() => parseSignature(`E${four}`), { message: /^4 indexed arguments where an event has at most 3/ })
  assert.equal(parseSignature(`E${four} anonymous`).inputs.length, 4)
})

test('nesting of any depth is refused, not followed', () => {
  assert.equal(fullType(parseSignature(`E(bool${'[]'.repeat(30)})`).inputs[0]!), `bool${'[]'.repeat(30)}`)
  for (const text of [`E(bool${'[]'.repeat(100_000)})`, `E${'('.repeat(100_000)}`, `E${'(tuple'.repeat(100_000)}`])
    assert.throws(
      () => parseSignature(text),
      (error: ChainsieveError) => {
        assert.match(error.message, /nested more than 32 deep|"\(" is expected/)
        return error.message.length < 400
      },
    )
})

test('no text makes the reader fail otherwise than by refusing', () => {
  const pieces = fc.array(
    fc.oneof(
      fc.constantFrom(
        'event ',
        'E',
        '(',
        ')',
        '[',
        ']',
        ',',
        'uint256',
        'tuple',
        ' indexed',
        ' a',
        '2',
        ';',
        ' anonymous',
      ),
      fc.string({ maxLength: 3, unit: 'binary' }),
    ),
    { maxLength: 20 },
  )
  fc.assert(
    fc.property(pieces, fc.constantFrom('event', 'function'), (parts, kind) => {
      const text = parts.join('')
      try {
        parseSignature(text, kind as 'event')
      } catch (error) {
        assert.ok(error instanceof ChainsieveError, `${text}: ${error}`)
      }
    }),
    { numRuns: 1500 },
  )
})

const elementary = fc.constantFrom(
  'address',
  'bool',
  'string',
  'bytes',
  'uint8',
  'uint256',
  'int24',
  'bytes4',
  'bytes32',
  'function',
)
const suffix = fc.array(fc.constantFrom('[]', '[1]', '[20]'), { maxLength: 2 }).map(parts => parts.join(''))
const name = fc.oneof(fc.constant(''), fc.stringMatching(/^x[A-Za-z0-9_$]{0,6}$/))
const param: fc.Arbitrary<AbiParam> = fc.letrec<{ param: AbiParam; plain: AbiParam; tuple: AbiParam }>(tie => ({
  param: fc.oneof({ depthSize: 'small' }, tie('plain'), tie('tuple')),
  plain: fc.tuple(name, elementary, suffix).map(([name, type, arrays]) => ({ name, type: type + arrays })),
  tuple: fc
    .tuple(name, suffix, fc.array(tie('param'), { minLength: 1, maxLength: 3 }))
    .map(([name, arrays, components]) => ({ name, type: `tuple${arrays}`, components })),
})).param
const event: fc.Arbitrary<EventAbi> = fc
  .record({
    name: fc.stringMatching(/^E[A-Za-z0-9_$]{0,6}$/),
    params: fc.array(fc.tuple(param, fc.boolean()), { maxLength: 5 }),
    anonymous: fc.boolean(),
  })
  .map(({ name, params, anonymous }) => {
    let room = anonymous ? 4 : 3
    return {
      name,
      inputs: params.map(([one, wanted]) => (wanted && room-- > 0 ? { ...one, indexed: true } : one)),
      ...(anonymous && { anonymous }),
    }
  })

test('what is written is what is read', () => {
  fc.assert(
    fc.property(event, abi => {
      assert.deepEqual(parseSignature(formatSignature(abi)), abi)
      assert.deepEqual(parseSignature(`event ${formatSignature(abi)};`), abi)
    }),
    { numRuns: 500 },
  )
})

const plain = (params: readonly unknown[]): unknown =>
  JSON.parse(
    JSON.stringify(params, (key, value) => ((key === 'name' || key === 'indexed') && !value ? undefined : value)),
  )

test('viem reads the same and hashes the same', () => {
  fc.assert(
    fc.property(event, abi => {
      assert.equal(topicOf(abi), toEventSelector({ type: 'event', ...abi } as AbiEvent))
      const inputs = abi.inputs.map(({ indexed: _, ...input }) => input)
      const selector = toFunctionSelector({
        type: 'function',
        name: abi.name,
        inputs,
        outputs: [],
        stateMutability: 'view',
      } as AbiFunction)
      assert.equal(selectorOf({ name: abi.name, inputs, outputs: [] }), selector)
      // viem's reader knows neither `anonymous` nor the type `function`.
      const text = formatSignature(abi)
      if (abi.anonymous || /\bfunction\b/.test(text)) return
      assert.deepEqual(plain(abi.inputs), plain((parseAbiItem(`event ${text}` as 'event E()') as AbiEvent).inputs))
    }),
    { numRuns: 300 },
  )
})

test('types have one canonical form', () => {
  for (const [type, canonical] of [
    ['uint', 'uint256'],
    ['uint[2][]', 'uint256[2][]'],
    ['tuple[]', 'tuple[]'],
    ['byte', 'bytes1'],
    ['address', 'address'],
    ['ufixed64x2', 'ufixed64x2'],
    ['uint[0]', null],
    ['uint[01]', null],
    ['uint256 ', null],
    ['(bool)', null],
    ['Lib.Kind', null],
    ['', null],
  ] as const)
    assert.equal(canonicalType(type), canonical, type)
})
