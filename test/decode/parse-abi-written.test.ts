import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as viem from 'viem'
import { readAbi } from '../../src/decode/parse-abi.ts'
import { formatSignature } from '../../src/decode/signature.ts'

const read = (text: string) => readAbi(text, 'Token.txt')

interface Param {
  name?: string
  type: string
  indexed?: boolean
  components?: Param[]
}

interface Entry {
  type: string
  name: string
  inputs: Param[]
  outputs?: Param[]
  stateMutability?: string
}

const writeParams = (params: Param[]): string =>
  params
    .map(({ name = '', type, indexed, components }) => {
      const written = components ? `${writeParams(components)}${type.slice('tuple'.length)}` : type
      return `${written}${indexed ? ' indexed' : ''} ${name}`.trim()
    })
    .join(', ')
    .replace(/^.*$/, '($&)')

const writeEntry = ({ type, name, inputs, outputs = [], stateMutability }: Entry): string =>
  type === 'event'
    ? `event ${name}${writeParams(inputs)}`
    : `function ${name}${writeParams(inputs)} external ${stateMutability === 'nonpayable' ? '' : stateMutability}` +
      (outputs.length > 0 ? ` returns ${writeParams(outputs)}` : '')

test('signatures are read one a line, with comments and blank lines', () => {
  const text = `// The token
event Transfer(address indexed from, address indexed to, uint256 value)

  function balanceOf(address owner) external view returns (uint256); // of one
# and the rest
/* not these:
event Gone(bool)
*/ event Odd(uint indexed) anonymous
error Broke(string why)
constructor(address owner)
receive() external payable
fallback()
function f(
  uint256[2] a, /* in between */
  (bool b, bytes c)[] d
) payable\r
event Transfer(address indexed from, address indexed to, uint256 value)
`
  const { probability, events, functions } = read(text)
  assert.equal(probability, 1)
  assert.deepEqual(events.map(formatSignature), [
    'Transfer(address indexed from, address indexed to, uint256 value)',
    'Odd(uint256 indexed) anonymous',
  ])
  assert.deepEqual(functions, [
    { name: 'balanceOf', inputs: [{ name: 'owner', type: 'address' }], outputs: [{ name: '', type: 'uint256' }] },
    {
      name: 'f',
      inputs: [
        { name: 'a', type: 'uint256[2]' },
        {
          name: 'd',
          type: 'tuple[]',
          components: [
            { name: 'b', type: 'bool' },
            { name: 'c', type: 'bytes' },
          ],
        },
      ],
      outputs: [],
    },
  ])
})

test('structs are written out where they are used, in lines and in arrays, as viem does', () => {
  const written = [
    'struct Line { Point from; Point[2] to; string label; }',
    'struct Point { int24 x; int24 y; }',
    'event Drawn(Line line, Point indexed at, address Point)',
    'function draw(Line[] Line, (Point p, bool b) t) returns (Point)',
  ]
  const want = readAbi(JSON.stringify(viem.parseAbi(written as never)), 'viem')
  assert.deepEqual(read(written.join('\n')), want)
  assert.deepEqual(read(JSON.stringify(written)), want)
  assert.deepEqual(read(written.join('\n').replace('Point from;', '\n  Point from; // first\n ')), want)
})

test('every ABI that viem carries is the same as JSON, as lines and as an array of signatures', () => {
  const abis = Object.entries(viem).filter(([name, value]) => name.endsWith('Abi') && Array.isArray(value))
  assert.ok(abis.length >= 5, String(abis.length))
  for (const [name, value] of abis) {
    const abi = (value as unknown as Entry[]).filter(({ type }) => type === 'event' || type === 'function')
    const want = read(JSON.stringify(abi))
    const written = abi.map(writeEntry)
    assert.deepEqual(read(written.join('\n')), want, name)
    assert.deepEqual(read(JSON.stringify(written)), want, name)
    assert.equal(want.events.length + want.functions.length > 0, true, name)
  }
})

test('what is wrong in a line is told with its number', () => {
  const cases: [text: string, message: string | RegExp][] = [
    [
      'event A()\n\nTransfer(address,address)\n',
      'line 3 is "Transfer(address,address)", which begins with neither "event" nor "function": write it like ' +
        '"event Transfer(address indexed from, address indexed to, uint256 value)"',
    ],
    [`contract A {\n  event A();\n}`, /^line 1 is "contract A \{", which begins with neither/],
    ['// one\nevent A(uint7 x)', /^line 2: a type is expected, not "uint7" .*, at character 9 of "event A\(uint7 x\)"/],
    ['/* one\n two */ // and\nevent A(uint7 x)', /^line 3: a type is expected, not "uint7"/],
    [
      'function f(uint256 x\nevent B()\n',
      /^line 1: "\)" is expected, not the end, at character 21 of "function f\(uint256 x"/,
    ],
    ['event B()\nfunction f(uint256 x\n', /^line 2: "\)" is expected, not the end/],
    [
      'event A(Foo x)',
      /^line 1: a type is expected, not "Foo" \(a contract is an address, an enum uint8, a struct its components\)/,
    ],
    [
      'event A(bool indexed a, bool indexed b, bool indexed c, bool indexed d)',
      /^line 1: 4 indexed arguments where an event has at most 3/,
    ],
    ['event A() event B()', /^line 1: the end is expected, not "event"/],
    ['struct A { A a; }\nevent E(A a)', 'line 1: the struct A contains itself'],
    ['struct A { B b; }\nstruct B { bool x; A[] a; }\nevent E()', /^line \d: the struct [AB] contains itself$/],
    [
      'struct A bool x;\nevent E()',
      'line 1 is "struct A bool x;", not a struct such as "struct Point { int24 x; int24 y; }"',
    ],
    ['struct A { }\nevent E(A a)', /^line 2: a tuple needs components/],
    [
      `struct S0 { bool x; bool y; }\n${Array.from({ length: 30 }, (_, i) => `struct S${i + 1} { S${i} a; S${i} b; }`).join('\n')}\nevent E(S30 s)`,
      /^line \d+: the struct S\d+ is longer than 20000 characters$/,
    ],
  ]
  for (const [text, message] of cases)
    assert.throws(
      () => read(text),
      (error: { code: string; message: string }) => {
        assert.equal(error.code, 'bad_abi')
        assert.ok(error.message.startsWith('Token.txt: '), error.message)
        const rest = error.message.slice('Token.txt: '.length)
        if (typeof message === 'string') assert.equal(rest, message)
        else assert.match(rest, message)
        return true
      },
    )
})
