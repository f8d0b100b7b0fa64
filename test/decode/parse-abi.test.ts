import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { erc20Abi, erc721Abi, parseAbi } from 'viem'
import { readAbi } from '../../src/decode/parse-abi.ts'
import { formatSignature } from '../../src/decode/signature.ts'
import { ChainsieveError } from '../../src/lib/errors.ts'

const read = (json: unknown) => readAbi(JSON.stringify(json), 'Token.json')

const transfer = {
  name: 'Transfer',
  inputs: [
    { name: 'from', type: 'address', indexed: true },
    { name: 'to', type: 'address', indexed: true },
    { name: 'value', type: 'uint256' },
  ],
}
const transferEntry = {
  type: 'event',
  name: 'Transfer',
  anonymous: false,
  inputs: [
    { name: 'from', type: 'address', indexed: true, internalType: 'address' },
    { name: 'to', type: 'address', indexed: true, internalType: 'address' },
    { name: 'value', type: 'uint256', indexed: false, internalType: 'uint256' },
  ],
}
const balanceOfEntry = {
  type: 'function',
  name: 'balanceOf',
  inputs: [{ name: 'owner', type: 'address', internalType: 'address' }],
  outputs: [{ name: '', type: 'uint256', internalType: 'uint256' }],
  stateMutability: 'view',
}
const balanceOf = {
  name: 'balanceOf',
  inputs: [{ name: 'owner', type: 'address' }],
  outputs: [{ name: '', type: 'uint256' }],
}
const others = [
  { type: 'constructor', inputs: [], stateMutability: 'nonpayable' },
  { type: 'fallback', stateMutability: 'payable' },
  { type: 'receive', stateMutability: 'payable' },
  { type: 'error', name: 'Broke', inputs: [{ name: 'why', type: 'string' }] },
]

test('an ABI is read from what compilers and people write', () => {
  const abi = [transferEntry, ...others, balanceOfEntry]
  const errors = [{ name: 'Broke', inputs: [{ name: 'why', type: 'string' }] }]
  const want = { probability: 1, events: [transfer], functions: [balanceOf], errors }
  assert.deepEqual(read(abi), want)
  assert.deepEqual(read({ abi, bytecode: { object: '0x' }, metadata: {} }), want, 'Foundry')
  assert.deepEqual(read({ _format: 'hh-sol-artifact-1', contractName: 'Token', abi, bytecode: '0x' }), want, 'Hardhat')
  assert.deepEqual(readAbi(`\uFEFF${JSON.stringify(abi, null, 2)}\n`, 'Token.json'), want, 'byte order mark')
  const metadata = {
    compiler: { version: '0.8.30+commit.73712a01' },
    language: 'Solidity',
    output: {
      abi,
      devdoc: { kind: 'dev', methods: {}, version: 1 },
      userdoc: { kind: 'user', methods: {}, version: 1 },
    },
    settings: { compilationTarget: { 'contracts/Token.sol': 'Token' }, evmVersion: 'prague', libraries: {} },
    sources: { 'contracts/Token.sol': { keccak256: '0x', urls: [] } },
    version: 1,
  }
  assert.deepEqual(read(metadata), { name: 'Token', ...want }, 'Sourcify')
  assert.deepEqual(read({ output: { abi } }), want, 'metadata without settings')
  assert.deepEqual(read({ output: { abi }, settings: { compilationTarget: { a: '../x' } } }), want, 'an absurd name')
  assert.deepEqual(read({ abi, metadata: JSON.stringify(metadata), match: 'exact_match' }), want, "Sourcify's answer")
  const written = [
    'event Transfer(address indexed from, address indexed to, uint256 value)',
    'function balanceOf(address owner) view returns (uint256)',
    'constructor(address owner)',
    'error Broke(string why)',
    'receive() external payable',
  ]
  assert.deepEqual(read(written), want, 'signatures')
  assert.deepEqual(read({ abi: written }), want, 'signatures in an artifact')
  assert.deepEqual(read([written[0], written[3], balanceOfEntry]), want, 'a mixture')
  assert.deepEqual(read([]), { probability: 1, events: [], functions: [] })
  assert.deepEqual(read(['errorSeen(bool)', 'functionCalled()']).events.map(formatSignature), [
    'errorSeen(bool)',
    'functionCalled()',
  ])
})

test('tuples, anonymous events and old entries without a type are read', () => {
  assert.deepEqual(
    read([
      {
        type: 'event',
        name: 'E',
        anonymous: true,
        inputs: [
          {
            name: 'items',
            type: 'tuple[2][]',
            indexed: false,
            components: [
              { name: 'a', type: 'uint' },
              { name: '', type: 'tuple', components: [{ name: 'b', type: 'bytes4[]' }] },
            ],
          },
          { type: 'bool', indexed: true },
        ],
      },
      { name: 'f', constant: true, inputs: [], payable: false },
    ]),
    {
      probability: 1,
      events: [
        {
          name: 'E',
          inputs: [
            {
              name: 'items',
              type: 'tuple[2][]',
              components: [
                { name: 'a', type: 'uint256' },
                { name: '', type: 'tuple', components: [{ name: 'b', type: 'bytes4[]' }] },
              ],
            },
            { name: '', type: 'bool', indexed: true },
          ],
          anonymous: true,
        },
      ],
      functions: [{ name: 'f', inputs: [], outputs: [] }],
    },
  )
})

test('a declaration that stands twice is read once, two that differ are both read', () => {
  const other = { ...transferEntry, inputs: transferEntry.inputs.map(input => ({ ...input, indexed: true })) }
  const abi = read([transferEntry, balanceOfEntry, other, transferEntry, balanceOfEntry])
  assert.deepEqual(abi.events.map(formatSignature), [
    'Transfer(address indexed from, address indexed to, uint256 value)',
    'Transfer(address indexed from, address indexed to, uint256 indexed value)',
  ])
  assert.deepEqual(abi.functions, [balanceOf])
})

test("a library's own functions are passed over, its events are not", () => {
  const set = { name: 'set', type: 'Lib.Set storage', internalType: 'struct Lib.Set' }
  const kind = { name: 'kind', type: 'Kind', internalType: 'enum Kind' }
  const f = (inputs: unknown[]) => ({ type: 'function', name: 'f', inputs, outputs: [], stateMutability: 'view' })
  assert.deepEqual(read([f([set]), f([kind]), { ...f([]), outputs: [kind] }, transferEntry]), {
    probability: 1,
    events: [transfer],
    functions: [],
  })
  assert.throws(() => read([f([{ name: 'x', type: 'Kind' }])]), {
    message: /\[0\]\.inputs\[0\]\.type is "Kind", not a type/,
  })
})

test('ABIs of viem are read whole', () => {
  for (const abi of [erc20Abi, erc721Abi]) {
    const { events, functions } = read(abi)
    assert.equal(events.length, abi.filter(entry => entry.type === 'event').length)
    assert.equal(functions.length, abi.filter(entry => entry.type === 'function').length)
  }
  const written = ['event A((uint256 x, string[] y)[3] indexed t, bytes z)', 'function f((bool b) t) returns (int24)']
  assert.deepEqual(read(parseAbi(written)), read(written))
})

test('what is no ABI is refused with file, path and remedy', () => {
  const remedy =
    "give a JSON ABI, a Foundry or Hardhat artifact, Sourcify's metadata.json, a list of signatures from 4byte or OpenChain, or " +
    'signatures such as event Transfer(address indexed from, address indexed to, uint256 value), one a line or as a JSON array'
  const event = (inputs: unknown) => [{ type: 'event', name: 'E', inputs }]
  const cases: [json: unknown, message: string][] = [
    [{}, `it contains no ABI; ${remedy}`],
    [null, `it contains no ABI; ${remedy}`],
    [7, `it contains no ABI; ${remedy}`],
    ['event E()', `it contains no ABI; ${remedy}`],
    [{ contracts: {}, version: '0.8.30' }, `it contains no ABI; ${remedy}`],
    [{ ok: false, error: 'not found' }, `it contains no ABI; ${remedy}`],
    [{ ok: true, result: null }, `it contains no ABI; ${remedy}`],
    [{ output: [] }, `it contains no ABI; ${remedy}`],
    [{ abi: {} }, 'abi is an object, not an array of entries'],
    [{ output: {} }, 'output.abi is missing, not an array of entries'],
    [{ output: { abi: [7] } }, 'output.abi[0] is 7, not an entry of an ABI or a signature'],
    [[transferEntry, 7], '[1] is 7, not an entry of an ABI or a signature'],
    [[[transferEntry]], '[0] is an array, not an entry of an ABI or a signature'],
    [{ abi: [{ type: 'evnt' }] }, 'abi[0].type is "evnt", not "event", "function", "error" or "constructor"'],
    [[{ type: {} }], '[0].type is an object, not "event", "function", "error" or "constructor"'],
    [[{ type: 'event', inputs: [] }], '[0].name is missing, not the name of an event'],
    [[{ name: 'f(', inputs: [] }], '[0].name is "f(", not the name of a function'],
    [event(undefined), '[0].inputs is missing, not an array of arguments'],
    [event(['bool']), '[0].inputs[0] is "bool", not an argument such as {"name": "to", "type": "address"}'],
    [event([{ name: 'x' }]), '[0].inputs[0].type is missing, not a type of the ABI such as "uint256" or "tuple[]"'],
    [event([{ type: 'uint7' }]), '[0].inputs[0].type is "uint7", not a type of the ABI such as "uint256" or "tuple[]"'],
    [event([{ type: 'bool', name: 'a b' }]), '[0].inputs[0].name is "a b", not a name'],
    [event([{ type: 'bool', indexed: 'yes' }]), '[0].inputs[0].indexed is "yes", not true or false'],
    [event([{ type: 'tuple' }]), '[0].inputs[0].components is missing, not an array of arguments'],
    [event([{ type: 'tuple', components: [] }]), '[0].inputs[0].components is empty, and a tuple has at least one'],
    [
      event([{ type: 'tuple[]', components: [{ type: 'x'.repeat(200) }] }]),
      `[0].inputs[0].components[0].type is "${'x'.repeat(78)}…, not a type of the ABI such as "uint256" or "tuple[]"`,
    ],
    [[{ ...transferEntry, anonymous: 1 }], '[0].anonymous is 1, not true or false'],
    [
      event(Array(4).fill({ type: 'bool', indexed: true })),
      '[0].inputs has 4 indexed arguments where an event has at most 3',
    ],
    [
      [transferEntry, 'event E(uint7)'],
      '[1]: a type is expected, not "uint7" (a contract is an address, an enum uint8, a struct its components), ' +
        'at character 9 of "event E(uint7)"; write it like Transfer(address indexed from, address indexed to, uint256 value)',
    ],
  ]
  for (const [json, message] of cases)
    assert.throws(() => read(json), { next: 'refuse', code: 'bad_abi', message: `Token.json: ${message}` })
  for (const [text, what] of [
    ['{', 'not JSON ('],
    ['[{"type":"event",', 'not JSON ('],
    ['\uFEFF {"abi":[}', 'not JSON ('],
    ['', 'it contains no ABI; '],
    ['\n \n', 'it contains no ABI; '],
    ['pragma solidity ^0.8.0;', 'it contains no ABI; '],
    ['// function f()\n', 'it contains no ABI; '],
    ['0x6080604052', 'it contains no ABI; '],
    ['\0\u0001PNG', 'it contains no ABI; '],
  ] as const)
    assert.throws(
      () => readAbi(text, 'Token.sol'),
      (error: ChainsieveError) => {
        assert.equal(error.code, 'bad_abi')
        assert.ok(error.message.startsWith(`Token.sol: ${what}`), error.message)
        assert.ok(error.message.endsWith(remedy), error.message)
        return true
      },
    )
})

test('nesting of any depth is refused, not followed', () => {
  const tuples = `${'{"type":"tuple","components":['.repeat(20_000)}{"type":"bool"}${']}'.repeat(20_000)}`
  assert.throws(() => readAbi(`[{"type":"event","name":"E","inputs":[${tuples}]}]`, 'a.json'), {
    message: /^a\.json: \[0\]\.inputs\[0\](?:\.components\[0\])*\.components is nested more than 32 deep$/,
  })
  for (const text of [
    `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
    `[${'{"type":'.repeat(20_000)}1${'}'.repeat(20_000)}]`,
  ])
    assert.throws(() => readAbi(text, 'a.json'), { code: 'bad_abi' })
  const arrays = { type: 'event', name: 'E', inputs: [{ type: `bool${'[]'.repeat(50_000)}` }] }
  assert.throws(() => read([arrays]), { message: /^Token\.json: \[0\]\.inputs\[0\]\.type is "bool\[\]/ })
})

test('no JSON makes the reader fail otherwise than by refusing', () => {
  const abiLike = fc.letrec(tie => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom(
        'event',
        'function',
        'E',
        'tuple',
        'uint256[]',
        'event E(bool x)',
        'struct E { E e; }',
        true,
        null,
        3,
        '',
      ),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(
        fc.constantFrom(
          ...['type', 'name', 'inputs', 'outputs', 'components', 'indexed', 'abi', 'anonymous', 'output', 'settings'],
          ...['results', 'result', 'function', 'event', 'text_signature', 'hex_signature', '0xa9059cbb'],
        ),
        tie('value'),
      ),
    ),
  })).value
  fc.assert(
    fc.property(fc.oneof(fc.array(abiLike), abiLike), json => {
      try {
        read(json)
      } catch (error) {
        assert.ok(error instanceof ChainsieveError && error.message.length < 1000, String(error))
      }
    }),
    { numRuns: 1000 },
  )
})

test('no text makes the reader fail otherwise than by refusing', () => {
  const word = fc.constantFrom(
    ...[
      'event ',
      'function ',
      'struct ',
      'error ',
      'E',
      'f',
      '(',
      ')',
      '{',
      '}',
      ';',
      ',',
      '\n',
      ' ',
      'uint256',
      'bool x',
      '/*',
      '*/',
      '//',
    ],
    ...[
      '0xa9059cbb',
      'a9059cbb',
      ': ',
      'transfer(address,uint256)',
      '"',
      '#',
      'indexed ',
      'returns ',
      '\r\n',
      '[2]',
      '[',
      '\u0000',
      'é',
    ],
  )
  fc.assert(
    fc.property(fc.array(word, { maxLength: 20 }), words => {
      try {
        readAbi(words.join(''), 'a.txt')
      } catch (error) {
        assert.ok(error instanceof ChainsieveError && error.message.length < 1000, String(error))
      }
    }),
    { numRuns: 3000 },
  )
})
