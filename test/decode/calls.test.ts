import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import {
  type Abi,
  decodeAbiParameters,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  toFunctionSelector,
} from 'viem'
import type { RpcBlock } from '../../src/chain/wire.ts'
import { createFunctionDecoder } from '../../src/decode/abi-decoder.ts'
import { type CallDecoderOptions, createCallDecoder, type DecodedCall } from '../../src/decode/calls.ts'
import { type FunctionCandidate, openFunctions } from '../../src/decode/functions.ts'
import { type FunctionAbi, parseSignature, selectorOf } from '../../src/decode/signature.ts'
import type { AbiParam } from '../../src/decode/types.ts'
import { expected, typed, viemParam, viemValues } from '../support/abi.ts'

const functions = openFunctions(readFileSync(new URL('../../data/functions.bin', import.meta.url)))

const TO = `0x${'70'.repeat(20)}`
const word = (value: bigint | number) => BigInt.asUintN(256, BigInt(value)).toString(16).padStart(64, '0')

const abiOf = ({ name, inputs }: FunctionAbi): Abi => [
  { type: 'function', name, inputs: inputs.map(viemParam), outputs: [], stateMutability: 'payable' },
]

interface Sample {
  abi: FunctionAbi
  values: unknown[]
  input: Hex
}

const sample: fc.Arbitrary<Sample> = fc.array(typed, { maxLength: 5 }).chain(list => {
  const inputs = list.map(({ param }, i): AbiParam => ({ ...param, name: i === 1 ? '' : `arg${i}` }))
  const abi: FunctionAbi = { name: 'sample', inputs }
  return fc.tuple(...list.map(({ value }) => value)).map(values => ({
    abi,
    values,
    input: encodeFunctionData({ abi: abiOf(abi), functionName: 'sample', args: values }),
  }))
})

test('random calls of random functions decode to what viem encoded', () => {
  fc.assert(
    fc.property(sample, ({ abi, values, input }) => {
      const args = abi.inputs.map((param, i) => expected(param, i, values[i]))
      const selector = selectorOf(abi)
      const decode = createCallDecoder({ find: () => [], own: () => [{ function: abi, probability: 1 }] })
      const call = { selector, function: abi, probability: 1, args, error: null }
      assert.deepEqual(decode(TO, input), call)
      assert.deepEqual(decode(TO, `0x${input.slice(2).toUpperCase()}`), call)
      const guess = createCallDecoder({ find: () => [{ function: abi, probability: 0.8 }] })
      assert.deepEqual(guess(TO, input), { ...call, probability: 0.8 })
    }),
    { numRuns: 1000 },
  )
})

/** Calldata with one thing wrong, or merely different. */
const damaged = fc
  .tuple(sample, fc.nat(), fc.nat(), fc.constantFrom('cut', 'extend', 'word', 'digit', 'size', 'swap'))
  .map(([one, a, b, how]) => {
    const selector = one.input.slice(0, 10)
    const digits = one.input.slice(10)
    const words = digits.match(/.{64}/g) ?? []
    const input = (rest: string) => ({ ...one, how, input: `${selector}${rest}` as Hex })
    if (how === 'cut') return input(digits.slice(0, 2 * (a % (digits.length / 2 + 1))))
    if (how === 'extend') return input(`${digits}${'5a'.repeat((a % 64) + 1)}`)
    if (how === 'digit') {
      const at = digits.length === 0 ? 0 : a % digits.length
      return input(`${digits.slice(0, at)}${(b % 16).toString(16)}${digits.slice(at + 1)}`)
    }
    const i = words.length === 0 ? 0 : a % words.length
    if (how === 'swap') words.reverse()
    else words[i] = how === 'size' ? word(32 * (b % (words.length + 2))) : word(-BigInt(b))
    return input(words.join(''))
  })

test('damaged calldata is refused, or decodes as viem decodes it', () => {
  const tally = { exact: 0, overlong: 0, refused: 0 }
  fc.assert(
    fc.property(damaged, ({ abi, input, values, how }) => {
      const { args, error } = createFunctionDecoder(abi)(input)
      let theirs = viemValues(abi.inputs, `0x${input.slice(10)}`)
      if (how === 'extend') assert.equal(typeof error, 'string')
      if (args === null) {
        tally.refused++
        assert.equal(typeof error, 'string')
        assert.equal(
          theirs !== null && reencodes(abi, theirs, input),
          false,
          `${JSON.stringify(abi)} ${input}: ${error}`,
        )
        return
      }
      tally[error === null ? 'exact' : 'overlong']++
      if (how === 'extend') theirs ??= values
      assert.ok(theirs, `viem refuses ${JSON.stringify(abi)} ${input}`)
      const want = abi.inputs.map((param, i) => expected(param, i, theirs[i]))
      // viem turns what is no UTF-8 into replacement characters.
      for (const [i, arg] of args.entries()) if (!/string/.test(arg.type)) assert.deepEqual(arg, want[i])
      if (error !== null) assert.equal(reencodes(abi, theirs, input), false)
    }),
    { numRuns: 2000 },
  )
  for (const [what, times] of Object.entries(tally)) assert.ok(times > 100, `${times} ${what}`)
})

const reencodes = ({ inputs }: FunctionAbi, values: readonly unknown[], input: string): boolean => {
  try {
    return encodeAbiParameters(inputs.map(viemParam), values) === `0x${input.slice(10)}`
  } catch {
    return false
  }
}

test('nothing that is thrown at it makes it throw', () => {
  const anything = fc.oneof(
    fc.string(),
    fc.uint8Array({ maxLength: 300 }).map(bytes => `0x${Buffer.from(bytes).toString('hex')}`),
    fc.tuple(fc.constantFrom('0xa9059cbb', '0x3593564c', '0x00000000'), fc.string()).map(parts => parts.join('')),
  )
  const decode = createCallDecoder({ find: functions.find })
  fc.assert(
    fc.property(anything, fc.string(), (input, to) => {
      const { selector, function: abi, probability, args, error } = decode(to, input)
      assert.ok(probability >= 0 && probability < 1)
      assert.equal(abi === null, probability === 0)
      if (selector === null) assert.equal(abi, null)
      if (abi === null) assert.deepEqual([args, error], [null, null])
      else assert.ok(args !== null || error !== null)
    }),
    { numRuns: 1000 },
  )
})

// --- By hand.

const fn = (signature: string) => parseSignature(signature, 'function')
const candidate = (signature: string, probability: number): FunctionCandidate => ({
  function: fn(signature),
  probability,
})

/** What a call says in short, by the candidates given. */
const decode = (input: string, find: readonly FunctionCandidate[], own?: CallDecoderOptions['own']) =>
  short(createCallDecoder({ find: () => find, ...(own && { own }) })(TO, input))
const short = (call: DecodedCall) => [
  call.function?.name ?? null,
  call.probability,
  call.args?.map(({ hex }) => hex) ?? null,
  call.error,
]

const TRANSFER = candidate('transfer(address to, uint256 amount)', 0.9)
const TRANSFERRED = `0xa9059cbb${'0'.repeat(24)}${'ab'.repeat(20)}${word(7)}`

test('calldata of less than four bytes has no selector, and an unknown selector no function', () => {
  const none = { selector: null, function: null, probability: 0, args: null, error: null }
  for (const input of ['0x', '0x12', '0xa9059c', '', 'a9059cbb00', '0xa9059cbg'])
    assert.deepEqual(createCallDecoder({ find: () => [TRANSFER] })(TO, input), none, input)
  assert.deepEqual(createCallDecoder({ find: () => [] })(TO, '0xA9059CBB'), { ...none, selector: '0xa9059cbb' })
})

test('calldata cut short or gone on keeps the name and says why', () => {
  const to = `0x${'ab'.repeat(20)}`
  assert.deepEqual(decode(TRANSFERRED, [TRANSFER]), ['transfer', 0.9, [to, '0x7'], null])
  assert.deepEqual(decode(TRANSFERRED.slice(0, -2), [TRANSFER]), [
    'transfer',
    0.45,
    null,
    'the data is shorter than the 64 bytes it must have',
  ])
  assert.deepEqual(decode(`${TRANSFERRED}abcdef12`, [TRANSFER]), [
    'transfer',
    0.81,
    [to, '0x7'],
    'the data is longer than the 64 bytes it must have',
  ])
  assert.deepEqual(decode(`${TRANSFERRED}0`, [TRANSFER]), ['transfer', 0.45, null, 'the data has half a byte'])
  assert.deepEqual(decode(`${TRANSFERRED}zz`, [TRANSFER]), ['transfer', 0.45, null, 'the data is not hex'])

  const note = candidate('note(string text)', 0.8)
  const [head, text] = [word(32), `${word(2)}${'6869'.padEnd(64, '0')}`]
  const unaccounted = 'the data has bytes that belong to no argument'
  assert.deepEqual(decode(`0x00000001${head}${text}`, [note]), ['note', 0.8, ['0x6869'], null])
  assert.deepEqual(decode(`0x00000001${head}${text}5a`, [note]), ['note', 0.72, ['0x6869'], unaccounted])
  assert.deepEqual(decode(`0x00000001${word(64)}${word(0)}${text}`, [note]), ['note', 0.4, null, unaccounted])
  // Whatever follows a function without arguments says nothing for it.
  assert.deepEqual(decode(`0x00000001${head}`, [candidate('ping()', 0.8)]), [
    'ping',
    0.4,
    [],
    'the data is longer than the 0 bytes it must have',
  ])
})

test('of colliding functions the likeliest that decodes is meant, and what else fits takes its share', () => {
  const burn = candidate('burn(uint256 amount)', 0.9)
  const collate = candidate('collate_propagate_storage(bytes16 x)', 0.8)
  const input = (value: bigint) => `0x42966c68${word(value)}`
  assert.equal(selectorOf(burn.function), selectorOf(collate.function))
  assert.deepEqual(decode(input(1n), [burn, collate]), ['burn', 0.9, ['0x1'], null])
  assert.deepEqual(decode(input(1n), [collate, burn]), ['burn', 0.9, ['0x1'], null])
  const both = input(0xabn << 248n)
  assert.deepEqual(decode(both, [burn, collate]), ['burn', 0.476, [`0xab${'0'.repeat(62)}`], null])
  assert.deepEqual(decode(both, [collate, burn]), ['collate_propagate_storage', 0.376, [`0xab${'0'.repeat(30)}`], null])
  // Over-long for both of them; then for none.
  assert.deepEqual(decode(`${both}00`, [burn, collate]).slice(0, 2), ['burn', 0.429])
  assert.deepEqual(decode('0x42966c68', [burn, collate]).slice(0, 3), ['burn', 0.238, null])
  // A name of an argument makes no other function.
  assert.deepEqual(decode(input(1n), [burn, candidate('burn(uint256)', 0.8)]).slice(0, 2), ['burn', 0.9])
})

test('what the user says of a contract goes before all guesses, and stands where the calldata does not fit', () => {
  const own = (signatures: readonly string[]) => (to: string, selector: string) => {
    assert.deepEqual([to, selector], [TO, '0xa9059cbb'])
    return signatures.map(signature => candidate(signature, 1))
  }
  const said = ['transfer(address dst, uint256 wad)']
  const decoded = createCallDecoder({ find: () => [TRANSFER], own: own(said) })(TO, TRANSFERRED)
  assert.deepEqual(
    decoded.args?.map(({ name }) => name),
    ['dst', 'wad'],
  )
  assert.equal(decoded.probability, 1)
  assert.deepEqual(decode(TRANSFERRED.slice(0, 74), [TRANSFER], own(said)).slice(0, 3), ['transfer', 1, null])
  assert.deepEqual(decode(`${TRANSFERRED}00`, [TRANSFER], own(said)).slice(0, 2), ['transfer', 1])
  assert.deepEqual(decode(TRANSFERRED, [TRANSFER], own([])).slice(0, 2), ['transfer', 0.9])
  // Two things said: transfer(address,uint256) and many_msg_babbage(bytes1) share a selector.
  const two = ['many_msg_babbage(bytes1 x)', ...said]
  assert.equal(selectorOf(fn(two[0]!)), '0xa9059cbb')
  assert.deepEqual(decode(TRANSFERRED, [], own(two)).slice(0, 2), ['transfer', 1])
  assert.deepEqual(decode('0xa9059cbb', [], own(two)).slice(0, 2), ['many_msg_babbage', 0.5])
  // Said of all contracts: the registry does not lessen it.
  assert.deepEqual(decode(TRANSFERRED, [candidate(said[0]!, 1), TRANSFER]).slice(0, 2), ['transfer', 1])
})

test('a function whose types nothing encodes keeps its name', () => {
  assert.deepEqual(decode(`0x00000001${word(1)}`, [candidate('pay(ufixed128x18 amount)', 0.8)]), [
    'pay',
    0.4,
    null,
    'argument amount: its type ufixed128x18 is not one that Solidity encodes',
  ])
})

// --- Real calls.

const mainnet = (name: string) => new URL(`../../../shared/mainnet/${name}.ndjson.gz`, import.meta.url)
const skip = !existsSync(mainnet('blocks')) && 'no recorded mainnet blocks here'
const read = <T>(name: string): T[] =>
  gunzipSync(readFileSync(mainnet(name)))
    .toString()
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as T)

interface Traced {
  traces: { type: string; traceAddress: number[]; action: { to: string; input: string } }[]
}

test('calls of real blocks are named and read as viem reads them', { skip }, t => {
  const external = read<{ block: RpcBlock }>('blocks').flatMap(({ block }) =>
    block.transactions.flatMap(({ to, input }) => (to !== null && input !== '0x' ? [{ to, input }] : [])),
  )
  const internal = read<Traced>('traces').flatMap(({ traces }) =>
    traces.flatMap(({ type, traceAddress, action }) =>
      type === 'call' && traceAddress.length > 0 && action.input !== '0x' ? [action] : [],
    ),
  )
  const decode = createCallDecoder({ find: functions.find })
  for (const [what, calls, least] of [
    ['calls of contracts', external, 0.88],
    ['internal calls', internal, 0.95],
  ] as const) {
    let named = 0
    let read = 0
    let exact = 0
    for (const { to, input } of calls) {
      const call = decode(to, input)
      assert.ok(call.probability < 1)
      if (call.function === null) continue
      named++
      assert.equal(toFunctionSelector(`function ${viemSignature(call.function)}`), input.slice(0, 10))
      if (call.args === null) continue
      read++
      if (call.error === null) exact++
      const { inputs } = call.function
      const theirs = inputs.length === 0 ? [] : decodeAbiParameters(inputs.map(viemParam), `0x${input.slice(10)}`)
      const want = inputs.map((param, i) => expected(param, i, theirs[i]))
      for (const [i, arg] of call.args.entries()) if (!/string/.test(arg.type)) assert.deepEqual(arg, want[i])
    }
    const share = (count: number) => `${count} (${((100 * count) / calls.length).toFixed(1)} %)`
    t.diagnostic(
      `${what}: ${calls.length}, named ${share(named)}, with arguments ${share(read)}, without remainder ${share(exact)}`,
    )
    assert.ok(named / calls.length >= least, `${named} of ${calls.length} ${what} named`)
  }
})

const viemSignature = ({ name, inputs }: FunctionAbi): string => `${name}(${inputs.map(viemType).join(',')})`
const viemType = ({ type, components }: AbiParam): string =>
  components ? type.replace('tuple', `(${components.map(viemType).join(',')})`) : type
