import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeAbiParameters, encodeFunctionData, parseAbi, toEventSelector, toFunctionSelector } from 'viem'
import { createEventDecoder } from '../../src/decode/abi-decoder.ts'
import { createCallDecoder } from '../../src/decode/calls.ts'
import {
  boundKeys,
  createEventDeclarations,
  createFunctionDeclarations,
  type LinksOf,
  type OwnAbi,
} from '../../src/decode/declarations.ts'
import { createLogDecoder } from '../../src/decode/logs.ts'
import { createRegistry } from '../../src/decode/registry.ts'
import { formatSignature, parseSignature } from '../../src/decode/signature.ts'

const [A, B, C] = [`0x${'Aa'.repeat(20)}`, `0x${'bb'.repeat(20)}`, `0x${'cc'.repeat(20)}`]
const word = (value: number) => `0x${value.toString(16).padStart(64, '0')}`

const given = (probability: number, address: string | null, ...texts: string[]): OwnAbi => ({
  address: address?.toLowerCase() ?? null,
  probability,
  events: texts.filter(text => !text.startsWith('function')).map(text => parseSignature(text)),
  functions: texts.filter(text => text.startsWith('function')).map(text => parseSignature(text, 'function')),
})
const abi = (address: string | null, ...texts: string[]) => given(1, address, ...texts)
const list = (address: string | null, ...texts: string[]) => given(0.6, address, ...texts)

const MOVED = 'Moved(address indexed mover, uint256 amount)'
const registry = createRegistry([{ topic0: toEventSelector('Moved(address,uint256)'), indexed: 1, signature: MOVED }])

const HASHES = [1, 2, 3].map(n => `0x${String(n).repeat(64)}`)
const [CODE = '', CODE_B = '', CODE_C = ''] = HASHES
const ofCode = (codeHash: string, ...texts: string[]): OwnAbi => ({ ...abi(null, ...texts), codeHash })
/** A runs the code of B, which runs that of C from position 5 on. */
const linksOf: LinksOf = (address, at) =>
  [
    { address: A.toLowerCase(), codeHash: CODE },
    { address: B, codeHash: CODE_B },
    ...(at >= 5 ? [{ address: C, codeHash: CODE_C }] : []),
  ].slice(address.toLowerCase() === A.toLowerCase() ? 0 : 1)

/** What a log of `Moved` or `Passed(address,address,uint256)` is decoded by: `declaration probability`. */
const decode = (own: OwnAbi[], name: 'Moved' | 'Passed', indexed: number, address = A) => {
  const count = name === 'Moved' ? 2 : 3
  const types = ['address', 'address', 'uint256'].slice(3 - count)
  const decodeLog = createLogDecoder({ ...createEventDeclarations(registry, own), compile: createEventDecoder })
  const log = {
    address,
    topics: [toEventSelector(`${name}(${types.join()})`), ...Array.from({ length: indexed }, (_, i) => word(i + 1))],
    data: `0x${Array.from({ length: count - indexed }, (_, i) => word(i + 5).slice(2)).join('')}`,
  }
  const { signature, args } = decodeLog(log as Parameters<typeof decodeLog>[0])
  return signature.event && [formatSignature(signature.event), signature.probability, args?.length ?? signature.error]
}

test('ABIs that were given go before the registry, the registry before lists of signatures', () => {
  const mine = 'Moved(address indexed mine, uint256 amount)'
  const its = 'Moved(address indexed its, uint256 amount)'
  const listed = 'Moved(address, uint256)'
  assert.deepEqual(decode([], 'Moved', 1), [MOVED, 0.9, 2])
  assert.deepEqual(decode([list(null, listed)], 'Moved', 1), [MOVED, 0.9, 2])
  assert.deepEqual(decode([list(A, listed)], 'Moved', 1), [MOVED, 0.9, 2])
  assert.deepEqual(decode([list(null, listed), abi(null, mine)], 'Moved', 1), [mine, 1, 2])
  assert.deepEqual(decode([list(A, listed), abi(null, mine)], 'Moved', 1), [mine, 1, 2])
  assert.deepEqual(decode([abi(null, mine), list(A, listed), abi(A, its)], 'Moved', 1), [its, 1, 2])
  assert.deepEqual(decode([abi(null, mine), list(A, listed), abi(A, its)], 'Moved', 1, B), [mine, 1, 2])
})

test('a list of signatures names what nobody else knows, half as sure where the indexed arguments are a choice', () => {
  const passed = 'Passed(address, address, uint256)'
  for (const address of [null, A]) {
    const own = [list(address, passed)]
    assert.deepEqual(decode(own, 'Passed', 0), [passed, 0.6, 3])
    assert.deepEqual(decode(own, 'Passed', 1), ['Passed(address indexed, address, uint256)', 0.3, 3])
    assert.deepEqual(decode(own, 'Passed', 2), ['Passed(address indexed, address indexed, uint256)', 0.3, 3])
    assert.deepEqual(decode(own, 'Passed', 3), ['Passed(address indexed, address indexed, uint256 indexed)', 0.6, 3])
  }
  assert.equal(decode([list(B, passed)], 'Passed', 2), null, 'of another contract')
  const told = 'Passed(address from, address indexed to, uint256 value)'
  assert.deepEqual(decode([list(null, told)], 'Passed', 1), [told, 0.6, 3])
  assert.deepEqual(decode([list(null, told)], 'Passed', 2), [
    told,
    0.6,
    'the log does not have the 2 topics of the declaration',
  ])
})

test('of the choices the one is taken by which the log decodes without remainder', () => {
  const decodeLog = createLogDecoder({
    ...createEventDeclarations(registry, [list(null, 'Said(string, address, bool)')]),
    compile: createEventDecoder,
  })
  const said = (topics: string[], types: string[], values: unknown[]) => {
    const data = encodeAbiParameters(types.map(type => ({ type })) as never, values as never) as string
    const { signature, args } = decodeLog({
      address: A,
      topics: [toEventSelector('Said(string,address,bool)'), ...topics],
      data,
    } as Parameters<typeof decodeLog>[0])
    return [signature.event && formatSignature(signature.event), signature.probability, args?.map(({ type }) => type)]
  }
  const types = ['string', 'address', 'bool']
  assert.deepEqual(said([word(0xabcd)], ['string', 'bool'], ['hello', true]), [
    'Said(string, address indexed, bool)',
    0.3,
    types,
  ])
  assert.deepEqual(said([word(1)], ['string', 'address'], ['hello', A.toLowerCase()]), [
    'Said(string, address, bool indexed)',
    0.3,
    types,
  ])
  assert.deepEqual(said([`0x${'ff'.repeat(32)}`], ['address', 'bool'], [A.toLowerCase(), false]), [
    'Said(string indexed, address, bool)',
    0.3,
    types,
  ])
})

test('events with many arguments do not make a list of signatures endless', () => {
  const many = `Many(${Array(17).fill('uint256').join(', ')})`
  const { find } = createEventDeclarations(registry, [list(null, many)])
  const topic = toEventSelector(`Many(${Array(17).fill('uint256').join()})`)
  assert.deepEqual(
    [0, 1, 2, 3].map(indexed => find(topic, indexed).length),
    [1, 17, 40, 40],
  )
})

test('functions are found in the same order, and the same objects each time', () => {
  const selector = toFunctionSelector('move(uint256)')
  const known = { function: parseSignature('move(uint256 known)', 'function'), probability: 0.8 }
  const functions = { find: (asked: string) => (asked === selector ? [known] : []) }
  const input = encodeFunctionData({ abi: parseAbi(['function move(uint256)']), args: [7n] })
  const called = (own: OwnAbi[], to = A) => {
    const declarations = createFunctionDeclarations(functions, own)
    assert.deepEqual(declarations.find('0x00000000'), [])
    const { function: abi, probability, args } = createCallDecoder(declarations)(to, input)
    assert.equal(createCallDecoder(declarations)(to, input).function, abi)
    return [abi?.inputs[0]?.name, probability, args?.[0]?.int]
  }
  const [mine, its, listed] = ['mine', 'its', 'listed'].map(name => `function move(uint256 ${name})`) as [
    string,
    string,
    string,
  ]
  assert.deepEqual(called([]), ['known', 0.8, 7n])
  assert.deepEqual(called([list(null, listed), list(A, listed)]), ['known', 0.8, 7n])
  assert.deepEqual(called([list(null, listed), abi(null, mine)]), ['mine', 1, 7n])
  assert.deepEqual(called([list(A, listed), abi(null, mine)]), ['mine', 1, 7n])
  assert.deepEqual(called([list(A, listed), abi(A, its), abi(null, mine)]), ['its', 1, 7n])
  assert.deepEqual(called([list(A, listed), abi(A, its), abi(null, mine)], B), ['mine', 1, 7n])
})

test('the ABI of a contract goes before that of its code, and that before those of the contracts whose code it runs', () => {
  const named = (name: string) => [`Moved(address indexed ${name}, uint256 amount)`, `function move(uint256 ${name})`]
  /** From the nearest one on; each has to give way to all before it. */
  const nearest = [
    abi(A.toLowerCase(), ...named('its')),
    ofCode(CODE, ...named('itsCode')),
    abi(B, ...named('next')),
    ofCode(CODE_B, ...named('nextCode')),
    abi(C, ...named('last')),
    ofCode(CODE_C, ...named('lastCode')),
    abi(null, ...named('everybody')),
  ]
  const log = {
    address: A,
    topics: [toEventSelector('Moved(address,uint256)'), word(1)],
    data: word(5),
  } as Parameters<ReturnType<typeof createLogDecoder>>[0]
  const input = encodeFunctionData({ abi: parseAbi(['function move(uint256)']), args: [7n] })
  const decoded = (own: OwnAbi[], at?: number) => {
    const decodeLog = createLogDecoder({
      ...createEventDeclarations(registry, own, linksOf),
      compile: createEventDecoder,
    })
    const decodeCall = createCallDecoder(createFunctionDeclarations({ find: () => [] }, own, linksOf))
    const { event, probability } = decodeLog(log, at).signature
    const call = decodeCall(A, input, at)
    return [event?.inputs[0]?.name, probability, call.function?.inputs[0]?.name, call.probability]
  }
  for (const [i, { functions }] of nearest.entries()) {
    const { name } = functions[0]!.inputs[0]!
    assert.deepEqual(decoded(nearest.slice(i).reverse()), [name, 1, name, 1])
  }
  assert.deepEqual(decoded(nearest.slice(4), 4), ['everybody', 1, 'everybody', 1])
  assert.deepEqual(decoded(nearest.slice(4), 5), ['last', 1, 'last', 1])

  // What a list of signatures guesses of the nearest one gives way to what is sure of another.
  const guessed = list(A.toLowerCase(), 'Moved(address, uint256)', 'function move(uint256 guessed)')
  assert.deepEqual(decoded([guessed, nearest[5]!]), ['lastCode', 1, 'lastCode', 1])
  assert.deepEqual(decoded([guessed]), ['mover', 0.9, 'guessed', 0.6])
})

test('the ABI of a contract that another one is like is as sure as they are alike, and goes before the registry where that is surer', () => {
  const its = abi(B, 'Moved(address indexed its, uint256 b)', 'function move(uint256 its)')
  const call = encodeFunctionData({ abi: parseAbi(['function move(uint256)']), args: [7n] })
  const log = {
    address: A,
    topics: [toEventSelector('Moved(address,uint256)'), word(1)],
    data: word(5),
  } as Parameters<ReturnType<typeof createLogDecoder>>[0]
  const decoded = (likeness: number | undefined, ...more: OwnAbi[]) => {
    const like: LinksOf = address => [
      { address: address.toLowerCase(), codeHash: null },
      ...(address === A ? [{ address: B, codeHash: null, ...(likeness !== undefined && { likeness }) }] : []),
    ]
    const own = [its, ...more]
    const functions = {
      find: () => [{ function: abi(null, 'function move(uint256 known)').functions[0]!, probability: 0.9 }],
    }
    const decodeLog = createLogDecoder({ ...createEventDeclarations(registry, own, like), compile: createEventDecoder })
    const decodeCall = createCallDecoder(createFunctionDeclarations(functions, own, like))
    const read = (address: string) => {
      const { event, probability } = decodeLog({ ...log, address: address as `0x${string}` }).signature
      const { function: called, probability: sure } = decodeCall(address, call)
      return [event?.inputs[0]?.name, probability, called?.inputs[0]?.name, sure]
    }
    // The other contract's own ABI stays as sure as it is.
    return [read(A), read(B), read(A)]
  }
  const sure = ['its', 1, 'its', 1]
  assert.deepEqual(decoded(undefined), [sure, sure, sure])
  assert.deepEqual(decoded(1), [['its', 0.95, 'its', 0.95], sure, ['its', 0.95, 'its', 0.95]])
  assert.deepEqual(decoded(0.97)[0], ['its', 0.92, 'its', 0.92])
  assert.deepEqual(decoded(0.8)[0], ['mover', 0.9, 'known', 0.9])
  const own = abi(A.toLowerCase(), 'Moved(address indexed own, uint256 b)', 'function move(uint256 own)')
  assert.deepEqual(decoded(1, own)[0], ['own', 1, 'own', 1])
})

test('a contract is looked up only for topics and selectors of ABIs that are not for all', () => {
  const own = [
    abi(null, 'Other(uint256 x)', 'function other()'),
    abi(A.toLowerCase(), 'Moved(address indexed a, uint256 b)'),
    ofCode(CODE, 'function move(uint256 b)'),
  ]
  const keys = boundKeys(own)
  assert.deepEqual(
    [...keys].sort(),
    [toEventSelector('Moved(address,uint256)'), toFunctionSelector('move(uint256)')].sort(),
  )
  const looked: string[] = []
  const watched: LinksOf = (address, at, selector) => {
    looked.push(selector ?? 'log')
    return linksOf(address, at, selector)
  }
  const calls = createFunctionDeclarations({ find: () => [] }, own, watched)
  const logs = createEventDeclarations(registry, own, watched)
  for (const key of [...keys, toEventSelector('Other(uint256)'), toFunctionSelector('other()')]) {
    calls.own?.(A, key, 1)
    logs.own?.(A, key, 1, 1)
  }
  assert.deepEqual(looked.sort(), [toFunctionSelector('move(uint256)'), 'log'].sort())
  assert.deepEqual(boundKeys([own[0]!]).size, 0)
})
