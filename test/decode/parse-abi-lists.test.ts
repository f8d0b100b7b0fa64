import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { keccak256, toBytes, toEventSelector, toFunctionSelector } from 'viem'
import { readAbi } from '../../src/decode/parse-abi.ts'
import { canonicalSignature, formatSignature } from '../../src/decode/signature.ts'

const read = (content: unknown) => readAbi(typeof content === 'string' ? content : JSON.stringify(content), 'list')

const TRANSFER = '0xa9059cbb'
const TRANSFERRED = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** A library's function: of no use, and yet right. */
const INSERT = keccak256(toBytes('insert(Lib.Set storage,address)')).slice(0, 10)

/** What was read, as hash and signature; the hashes by viem. */
const seen = (content: unknown) => {
  const { probability, events, functions } = read(content)
  assert.equal(probability, 0.6)
  for (const abi of functions) assert.deepEqual(Object.keys(abi), ['name', 'inputs'], 'nobody told the outputs')
  return [
    ...functions.map(canonicalSignature).map(text => `${toFunctionSelector(text)} ${text}`),
    ...events.map(canonicalSignature).map(text => `${toEventSelector(text)} ${text}`),
  ]
}

test('4byte: pages of its API, and the results alone', () => {
  const results = [
    {
      id: 31780,
      created_at: '2018-05-11T08:39:29.708250Z',
      text_signature: 'join_tg_invmru_haha_fd06787(address,bool)',
      hex_signature: toFunctionSelector('join_tg_invmru_haha_fd06787(address,bool)'),
      bytes_signature: '?',
    },
    { id: 145, text_signature: 'transfer(address,uint256)', hex_signature: TRANSFER, bytes_signature: '©\u0005»' },
    { id: 1, text_signature: 'Transfer(address,address,uint256)', hex_signature: TRANSFERRED },
    { id: 9, text_signature: 'insert(Lib.Set storage,address)', hex_signature: INSERT },
  ]
  const want = [
    `${toFunctionSelector('join_tg_invmru_haha_fd06787(address,bool)')} join_tg_invmru_haha_fd06787(address,bool)`,
    `${TRANSFER} transfer(address,uint256)`,
    `${TRANSFERRED} Transfer(address,address,uint256)`,
  ]
  assert.deepEqual(seen({ count: 4, next: null, previous: null, results }), want)
  assert.deepEqual(seen(results), want)
  assert.deepEqual(seen({ count: 0, next: null, previous: null, results: [] }), [])
})

test('OpenChain: its look-up; what it does not know is null, and what it takes for made up is left out', () => {
  assert.deepEqual(
    seen({
      ok: true,
      result: {
        event: {
          [TRANSFERRED]: [{ name: 'Transfer(address,address,uint256)', filtered: false, hasVerifiedContract: true }],
          [`0x${'00'.repeat(32)}`]: [],
        },
        function: {
          '0x12345678': null,
          '0xA9059CBB': [
            { name: 'transfer(address,uint256)', filtered: false },
            { name: 'join_tg_invmru_haha_fd06787(address,bool)', filtered: true },
          ],
        },
      },
    }),
    [`${TRANSFER} transfer(address,uint256)`, `${TRANSFERRED} Transfer(address,address,uint256)`],
  )
})

test('lines of hash and signature, as exports have them', () => {
  const want = [`${TRANSFER} transfer(address,uint256)`, `${TRANSFERRED} Transfer(address,address,uint256)`]
  for (const [what, text] of Object.entries({
    OpenChain: `${TRANSFER},transfer(address,uint256)\n${TRANSFERRED},Transfer(address,address,uint256)\n${INSERT},insert(Lib.Set storage,address)\n`,
    'with a header': `hash,name\r\n${TRANSFER},transfer(address,uint256)\r\n${TRANSFERRED},Transfer(address,address,uint256)\r\n`,
    '4byte as CSV':
      'id,created_at,text_signature,hex_signature,bytes_signature\n' +
      `145,2016-07-09T03:58:28.927638Z,"transfer(address,uint256)",${TRANSFER},"©)(»"\n` +
      `12345678,2016-07-09T03:58:28.927638Z,"Transfer(address,address,uint256)",${TRANSFERRED},"x"\n`,
    'solc --hashes': `# of the token\na9059cbb: transfer(address,uint256)\n\n${TRANSFERRED.slice(2)}: Transfer(address,address,uint256)\n`,
    tabs: `${TRANSFER}\ttransfer(address,uint256)\n${TRANSFERRED.toUpperCase().replace('0X', '0x')}\tTransfer(address,address,uint256)`,
    'names in front': `transfer(address,uint256): ${TRANSFER}\nTransfer(address,address,uint256): ${TRANSFERRED}`,
  }))
    assert.deepEqual(seen(text), want, what)
  assert.deepEqual(
    read(`${TRANSFERRED},event Transfer(address indexed from, address indexed to, uint256 value)`).events.map(
      formatSignature,
    ),
    ['Transfer(address indexed from, address indexed to, uint256 value)'],
  )
})

test('what hashes to its hash and yet can decode nothing is passed over', () => {
  const lines = ['f(uint)', 'Lib.f(uint256)', 'f(Lib.Kind)', 'g(uint256[0])'].map(
    text => `${keccak256(toBytes(text)).slice(0, 10)},${text}`,
  )
  assert.deepEqual(seen([...lines, `${TRANSFER},transfer(address,uint256)`].join('\n')), [
    `${TRANSFER} transfer(address,uint256)`,
  ])
})

test('a hash that is not that of its text is refused with both, at its place', () => {
  const wrong = (hash: string, text: string, actual: string) =>
    `: ${hash} is not the hash of "${text}", which is ${actual}; correct it or remove it`
  const text = 'transfer(address,uint)'
  const cases: [content: unknown, message: string][] = [
    [
      `${TRANSFER},transfer(address,uint256)\n\n0x12345678,transfer(address,uint256)\n`,
      `line 3${wrong('0x12345678', 'transfer(address,uint256)', TRANSFER)}`,
    ],
    [
      `${TRANSFERRED},transfer(address,uint256)`,
      `line 1${wrong(TRANSFERRED, 'transfer(address,uint256)', toEventSelector('transfer(address,uint256)'))}`,
    ],
    [
      `0x12345678: insert(Lib.Set storage,address)`,
      `line 1${wrong('0x12345678', 'insert(Lib.Set storage,address)', INSERT)}`,
    ],
    [`0x12345678: ${text}`, `line 1${wrong('0x12345678', text, TRANSFER)}`],
    [
      { results: [{ text_signature: 'a()', hex_signature: '0x00000000' }] },
      `results[0]${wrong('0x00000000', 'a()', toFunctionSelector('a()'))}`,
    ],
    [
      { result: { function: { '0x00000000': [{ name: 'a()' }] } } },
      `result.function["0x00000000"][0]${wrong('0x00000000', 'a()', toFunctionSelector('a()'))}`,
    ],
    [
      `${TRANSFER},transfer(address,uint256)\n0xa9059c,transfer(address,uint256)`,
      'line 2 is "0xa9059c,transfer(address,uint256)", not a hash and a signature such as 0xa9059cbb,transfer(address,uint256); correct it or remove it',
    ],
    [
      `hash,name\nhash,name\n${TRANSFER},transfer(address,uint256)`,
      'line 2 is "hash,name", not a hash and a signature such as 0xa9059cbb,transfer(address,uint256); correct it or remove it',
    ],
    [
      `${TRANSFER},transfer(address,uint256)\n${TRANSFER},transfer(address,uint256`,
      `line 2 is "${TRANSFER},transfer(address,uint256", not a hash and a signature such as 0xa9059cbb,transfer(address,uint256); correct it or remove it`,
    ],
    [{ results: {} }, 'results is an object, not an array'],
    [{ results: [7] }, 'results[0] is 7, not {"text_signature": "…", "hex_signature": "0x…"}'],
    [
      { results: [{ text_signature: 'a()' }] },
      'results[0]: missing is not a hash of 0x and 8 digits (a function) or 64 (an event); correct it or remove it',
    ],
    [
      [{ text_signature: null, hex_signature: TRANSFER }],
      '[0]: null is not a signature such as "transfer(address,uint256)"; correct it or remove it',
    ],
    [{ result: { event: [] } }, 'result.event is an array, not an object of hashes'],
    [{ result: { event: { [TRANSFERRED]: {} } } }, `result.event["${TRANSFERRED}"] is an object, not an array`],
    [
      { result: { function: { [TRANSFER]: ['transfer(address,uint256)'] } } },
      `result.function["${TRANSFER}"][0] is "transfer(address,uint256)", not {"name": "…"}`,
    ],
    [
      { result: { function: { transfer: [{ name: 'transfer(address,uint256)' }] } } },
      'result.function["transfer"][0]: "transfer" is not a hash of 0x and 8 digits (a function) or 64 (an event); correct it or remove it',
    ],
  ]
  for (const [content, message] of cases)
    assert.throws(() => read(content), { next: 'refuse', code: 'bad_abi', message: `list: ${message}` })
})

test('more signatures than a thread should hold are refused', () => {
  const lines = Array.from({ length: 50_001 }, (_, i) => `${toFunctionSelector(`f${i}()`)},f${i}()`)
  assert.equal(read(lines.slice(1).join('\n')).functions.length, 50_000)
  assert.throws(() => read(lines.join('\n')), {
    message: 'list: line 50001 is beyond 50,000 signatures, which is the limit: keep those that your contracts use',
  })
})

test('whatever signatures a list has, they come back under the hashes that viem gives them', () => {
  const type = fc.letrec(tie => ({
    type: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom('address', 'uint256', 'bytes32', 'string', 'bool[]', 'int8[3][]'),
      fc
        .array(tie('type') as fc.Arbitrary<string>, { minLength: 1, maxLength: 3 })
        .map(parts => `(${parts.join(',')})`),
    ),
  })).type as fc.Arbitrary<string>
  const signature = fc
    .tuple(fc.stringMatching(/^[a-zA-Z_$][\w$]{0,12}$/), fc.array(type, { maxLength: 4 }))
    .map(([name, types]) => `${name}(${types.join(',')})`)
  fc.assert(
    fc.property(
      fc.uniqueArray(signature, { minLength: 1, maxLength: 5 }),
      fc.constantFrom(',', ': ', '\t'),
      (texts, gap) => {
        const lines = texts.flatMap(text =>
          [toFunctionSelector(text), toEventSelector(text)].map(hash => `${hash}${gap}${text}`),
        )
        const want = [
          ...texts.map(text => `${toFunctionSelector(text)} ${text}`),
          ...texts.map(text => `${toEventSelector(text)} ${text}`),
        ]
        assert.deepEqual(seen(lines.join('\n')), want)
      },
    ),
    { seed: 5, numRuns: 300 },
  )
})
