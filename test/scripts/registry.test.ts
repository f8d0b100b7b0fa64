import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Declaration, format, hashOf } from '../../scripts/registry/declaration.ts'
import { extractJson, extractSource } from '../../scripts/registry/extract.ts'
import { handEvents, handFunctions } from '../../scripts/registry/hand.ts'
import { readHuman } from '../../scripts/registry/human.ts'
import { select } from '../../scripts/registry/panoramix.ts'
import { createResolver } from '../../scripts/registry/resolve.ts'

const show = (found: Iterable<Declaration>) =>
  [...found].map(declaration => `${declaration.kind} ${format(declaration)}`)

const human = (text: string) => show(readHuman(text, new Map()))

const event = (signature: string): Declaration => [...readHuman(`event ${signature}`, new Map())][0]!

/** Lets packages speak in the order given and tells what is settled on. */
const settle = (...said: readonly (readonly [packageName: string, ...signatures: string[]])[]) => {
  const resolver = createResolver()
  for (const [name, ...signatures] of said) for (const signature of signatures) resolver.add(event(signature), name)
  return resolver.resolve().map(({ text }) => text)
}

test('variants that differ in the number of indexed arguments all stay', () => {
  assert.deepEqual(settle(['a', 'F(uint256 x, uint256 y)', 'F(uint256 indexed x, uint256 y)']), [
    'F(uint256 indexed x, uint256 y)',
    'F(uint256 x, uint256 y)',
  ])
})

test('unnamed and _param arguments give way, however many packages have them', () => {
  assert.deepEqual(settle(['a', 'F(uint256 _x)'], ['b', 'F(uint256 _x)'], ['c', 'F(uint256)'], ['d', 'F(uint256 x)']), [
    'F(uint256 x)',
  ])
  assert.deepEqual(settle(['a', 'F(uint256)'], ['b', 'F(uint256)'], ['c', 'F(uint256 _x)']), ['F(uint256 _x)'])
  assert.deepEqual(settle(['a', 'F((uint256 _x) item)'], ['b', 'F((uint256 x) thing)']), ['F((uint256 x) thing)'])
  assert.deepEqual(settle(['a', 'F(uint256)']), ['F(uint256)'])
})

test('most packages win, and versions of one package count once', () => {
  assert.deepEqual(settle(['a', 'F(uint256 x)'], ['b', 'F(uint256 y)'], ['c', 'F(uint256 y)']), ['F(uint256 y)'])
  assert.deepEqual(
    settle(['a', 'F(uint256 x)', 'F(uint256 x)'], ['a', 'F(uint256 x)'], ['b', 'F(uint256 y)'], ['c', 'F(uint256 y)']),
    ['F(uint256 y)'],
  )
})

test('a tie goes to the package that comes first, within one package to the alphabet', () => {
  assert.deepEqual(settle(['a', 'F(uint256 z)'], ['b', 'F(uint256 y)']), ['F(uint256 z)'])
  assert.deepEqual(settle(['first', 'G(uint256 g)'], ['b', 'F(uint256 z)'], ['first', 'F(uint256 y)']), [
    'F(uint256 y)',
    'G(uint256 g)',
  ])
  assert.deepEqual(settle(['a', 'F(uint256 z)', 'F(uint256 y)']), ['F(uint256 y)'])
})

test('what is fixed by hand stands above all packages', () => {
  const resolver = createResolver()
  resolver.fix(event('F(uint256 _mine)'))
  resolver.add(event('F(uint256 x)'), 'a')
  resolver.add(event('F(uint256 indexed x)'), 'a')
  assert.deepEqual(
    resolver.resolve().map(({ text }) => text),
    ['F(uint256 _mine)', 'F(uint256 indexed x)'],
  )
})

test('the hand list hashes to what was seen on chain', () => {
  for (const [hash, signature] of handEvents) assert.equal(hashOf(event(signature)), hash, signature)
  for (const [hash, signature] of handFunctions) {
    assert.equal(hashOf([...readHuman(`function ${signature}`, new Map())][0]!), hash, signature)
  }
})

test('reads ABIs anywhere in JSON, in strings too', () => {
  const abi = [
    { type: 'constructor', inputs: [] },
    { type: 'function', name: 'old', inputs: [{ name: 'calldata', type: 'bytes' }] },
    {
      type: 'event',
      name: 'Filled',
      inputs: [
        { name: 'hash', type: 'bytes32', indexed: true },
        {
          name: 'items',
          type: 'tuple[2][]',
          components: [
            { name: 'token', type: 'address' },
            { name: '', type: 'uint' },
          ],
        },
      ],
    },
    {
      type: 'function',
      name: 'run',
      inputs: [{ name: 'how', type: 'function' }],
      outputs: [{ name: '', type: 'bool' }],
    },
  ]
  const expected = [
    'function old(bytes)',
    'event Filled(bytes32 indexed hash, (address token, uint256)[2][] items)',
    'function run(bytes24 how)',
  ]
  assert.deepEqual(show(extractJson(JSON.stringify({ deep: [{ abi }] }))), expected)
  assert.deepEqual(show(extractJson(JSON.stringify({ metadata: JSON.stringify({ output: { abi } }) }))), expected)
  assert.deepEqual(show(extractJson(JSON.stringify({ abi: ['event Done(address by)', 'eventual'] }))), [
    'event Done(address by)',
  ])
  assert.deepEqual(show(extractJson('{ broken')), [])
})

test('reads object literals in source text', () => {
  const source = `
    import x from 'y' // { type: 'event'
    export const abi = [
      { anonymous: false, inputs: [{ indexed: true, internalType: "address", name: 'owner', type: \`address\`, },], name: 'Took', type: 'event' } as const,
      {"inputs":[{"internalType":"struct S[]","name":"s","type":"tuple[]","components":[{"name":"a","type":"int8"}]}],"name":"put","outputs":[],"stateMutability":"payable","type":"function"},
      {type:"event",anonymous:!1,name:"Mini",inputs:[{indexed:!0,name:"id",type:"uint256"}]},
      { type: 'event', name: 'Computed', inputs: inputsOf(x) },
      { type: 'event', name: 'Spread', inputs: [...inputs] },
    ] as const
    const text = "[{\\"type\\":\\"event\\",\\"name\\":\\"Quoted\\",\\"inputs\\":[]}]"
    const tool = { type: 'function', function: { name: 'no ABI' } }
  `
  assert.deepEqual(show(extractSource(source)), [
    'event Took(address indexed owner)',
    'function put((int8 a)[] s)',
    'event Mini(uint256 indexed id)',
    'event Quoted()',
  ])
})

test('reads human-readable declarations in source text, with their structs', () => {
  const source = `
    const abi = parseAbi([
      'struct Inner { uint a; bytes32[] b; }',
      'struct Outer { Inner inner; address who; }',
      'event Made(address indexed by, Outer[] outers)',
      "function make(tuple(uint8 x, bool)[3] parts, bytes calldata data) external payable returns (uint256 id, Inner memory)",
      'function text that is no declaration',
      'event Unknown(Missing x)',
    ])`
  assert.deepEqual(show(extractSource(source)), [
    'event Made(address indexed by, ((uint256 a, bytes32[] b) inner, address who)[] outers)',
    'function make((uint8 x, bool)[3] parts, bytes data)',
  ])
})

test('passes over what no topic or selector tells', () => {
  for (const text of [
    'event Hidden(uint256 x) anonymous',
    'event Pointer(Data.Reserve storage x)',
    'event Four(uint256 indexed a, uint256 indexed b, uint256 indexed c, uint256 indexed d)',
    'event Odd(uint7 x)',
    'event Open(uint256 x',
    'function f(uint256 x) { return x }',
  ]) {
    assert.deepEqual(human(text), [], text)
  }
})

test('takes the functions of verified contracts from the dump, and of the others those of many forms', async () => {
  const entry = (signature: string, abi: object) => {
    const [declaration] = readHuman(`function ${signature}`, new Map())
    return JSON.stringify({ selector: hashOf(declaration!), abi })
  }
  const param = (type: string, name: string, more = {}) => ({ type, name, ...more })
  const listed = (name: string, types: readonly string[]) =>
    entry(`${name}(${types.join(',')})`, { name, inputs: types.map((type, i) => param(type, `_param${i + 1}`)) })
  const forms = Array.from({ length: 9 }, (_, i) => listed('many', Array(i).fill('uint8')))
  const item = { name: 'buy', type: 'function', stateMutability: 'payable' }
  const lines = [
    entry('buy((uint256,bool)[])', {
      ...item,
      inputs: [param('tuple[]', 'lots', { components: [param('uint256', 'id'), param('bool', '_param2')] })],
    }),
    entry('buy((uint256,(bytes,bool)),uint8)', {
      ...item,
      inputs: [param('(uint256,(bytes,bool))', '_param1'), param('uint8', 'n')],
    }),
    ...forms,
    listed('few', []),
    listed('few', ['bool']),
    entry('Bought()', { name: 'Bought', type: 'event', inputs: [], anonymous: false }),
    entry('Failed()', { name: 'Failed', type: 'error', inputs: [] }),
    entry('unknown12345678()', { ...item, name: 'unknown12345678', inputs: [] }),
    JSON.stringify({ selector: '0x12345678', abi: { ...item, inputs: [] } }),
    entry('buy(uint8)', { ...item, inputs: [param('Lots.Data storage', 'self')] }),
  ]
  const found = async (lines: string[]) => {
    const list: string[] = []
    for await (const { declaration, verified } of select(lines)) list.push(`${verified} ${format(declaration)}`)
    return list
  }
  const verified = ['true buy((uint256 id, bool)[] lots)', 'true buy((uint256, (bytes, bool)), uint8 n)']
  assert.deepEqual(await found(lines), verified)
  const tenth = entry('many(address)', { name: 'many', type: 'function', inputs: [param('address', 'who')] })
  assert.deepEqual(await found([...lines, tenth]), [
    ...verified,
    'true many(address who)',
    ...forms.map((_, i) => `false many(${Array(i).fill('uint8').join(', ')})`),
  ])
})
