import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parseAbiItem, toFunctionSelector } from 'viem'
import { type PackedFunction, packFunctions } from '../../scripts/registry/functions-file.ts'
import { type FunctionCandidate, openFunctions } from '../../src/decode/functions.ts'
import type { AbiParam } from '../../src/decode/types.ts'

const file = readFileSync(new URL('../../data/functions.bin', import.meta.url))
const functions = openFunctions(file)

const params = (list: readonly AbiParam[]): string =>
  `(${list.map(({ name, type, components }) => [components ? type.replace('tuple', params(components)) : type, name].filter(Boolean).join(' ')).join(',')})`
const written = (found: readonly FunctionCandidate[]) =>
  found.map(({ function: { name, inputs }, probability }) => `${probability} ${name}${params(inputs)}`)

const packed = (...list: readonly (readonly [standing: PackedFunction['standing'], text: string])[]) =>
  packFunctions(
    ['head'],
    list.map(([standing, text]) => ({ selector: toFunctionSelector(`function ${text}`), text, standing })),
  )

test('the file holds half a million functions in alphabetical order, each found by the hash that viem reckons', () => {
  assert.ok(functions.size > 550_000, `${functions.size} functions`)
  let number = 0
  let before = ''
  let compared = 0
  for (const text of functions.texts()) {
    assert.match(text, /^[+ ?] [A-Za-z_$][\w$]*\(.*\)$/)
    const declaration = text.slice(2)
    assert.ok(before < declaration, `${declaration} behind ${before}`)
    before = declaration
    if (number++ % 1009 !== 0) continue
    const probability = { '+': 0.9, ' ': 0.8, '?': 0.6 }[text[0]!]
    const found = written(functions.find(toFunctionSelector(`function ${declaration}`)))
    assert.ok(found.includes(`${probability} ${declaration}`), `${text}: ${found}`)
    compared++
  }
  assert.equal(number, functions.size)
  assert.ok(compared > 500, `${compared} compared`)
})

test('what everybody calls has the names everybody knows', () => {
  const found = ['0xa9059cbb', '0x23b872dd', '0x095ea7b3', '0x70a08231', '0x3593564c'].map(selector =>
    written(functions.find(selector)),
  )
  assert.deepEqual(found, [
    ['0.9 transfer(address to,uint256 amount)'],
    ['0.9 transferFrom(address from,address to,uint256 amount)'],
    ['0.9 approve(address spender,uint256 amount)'],
    ['0.9 balanceOf(address account)'],
    ['0.9 execute(bytes commands,bytes[] inputs,uint256 deadline)'],
  ])
})

test('of functions with one selector the better known one comes first', () => {
  assert.deepEqual(
    functions.find('0x00000000').map(({ function: { name }, probability }) => [name, probability]),
    [
      ['fulfillBasicOrder_efficient_6GL6yc', 0.9],
      ['ROOT4146650865', 0.8],
    ],
  )
  // A famous pair, in both orders of the alphabet and of standing.
  const burn = 'burn(uint256 amount)'
  const collate = 'collate_propagate_storage(bytes16 x)'
  assert.equal(toFunctionSelector(`function ${burn}`), toFunctionSelector(`function ${collate}`))
  assert.deepEqual(written(openFunctions(packed([' ', burn], ['+', collate])).find('0x42966c68')), [
    `0.9 ${collate}`,
    `0.8 ${burn}`,
  ])
  assert.deepEqual(written(openFunctions(packed(['?', collate], [' ', burn])).find('0x42966c68')), [
    `0.8 ${burn}`,
    `0.6 ${collate}`,
  ])
})

test('answers are the same objects each time, and nothing else is answered', () => {
  assert.equal(functions.find('0xa9059cbb'), functions.find('0xa9059cbb'))
  for (const odd of ['', '0x', '0xa9059cb', '0xa9059cbb0', '0xA9059CBB', 'a9059cbb', '0xzzzzzzzz', '0x12345679'])
    assert.deepEqual(functions.find(odd), [], odd)
})

test('what is packed is read back, whatever it is', () => {
  const texts = [
    'f()',
    'f(uint256 amount)',
    'fa((address token, (uint256, bytes32[] proof)[2][] parts) order, bytes)',
    'transferAndThenDoSomethingWithAVeryLongNameThatManyOthersBeginWithTooAndThatGoesOnForMoreThanNinetyCharacters()',
    'transferAndThenDoSomethingWithAVeryLongNameThatManyOthersBeginWithTooAndThatGoesOnForMoreThanNinetyCharactersX()',
    ...Array.from({ length: 2500 }, (_, i) => `g${i}(uint${8 * (1 + (i % 32))} a${i % 7}, string)`),
  ]
  const opened = openFunctions(packed(...texts.toReversed().map(text => [' ', text] as const)))
  const compact = texts.map(text => text.replaceAll(', ', ','))
  assert.deepEqual(
    [...opened.texts()],
    compact.toSorted().map(text => `  ${text}`),
  )
  assert.equal(opened.size, texts.length)
  for (const text of compact)
    assert.deepEqual(written(opened.find(toFunctionSelector(`function ${text}`))), [`0.8 ${text}`])
  const none = openFunctions(packed())
  assert.deepEqual([none.size, none.find('0xa9059cbb'), [...none.texts()]], [0, [], []])
  // viem is asked for the form that the tuple is read in.
  const [{ function: fa }] = opened.find(toFunctionSelector(`function ${texts[2]}`)) as [FunctionCandidate]
  const theirs = parseAbiItem(`function ${texts[2]}`) as { inputs: readonly AbiParam[] }
  assert.deepEqual(
    fa.inputs,
    JSON.parse(
      JSON.stringify(theirs.inputs, (_, value) => (value?.type && !value.name ? { name: '', ...value } : value)),
    ),
  )
})

test('a file cut short or spoilt is told with its remedy', () => {
  const good = packed([' ', 'f()'], [' ', 'g(uint256 a)'])
  const index = good.indexOf(0) + 1 + 8 + 2 * 65536 + 4 * 2
  const remedy = '. Write the file again with node scripts/registry/build.ts or restore the original one'
  for (const [bytes, what] of [
    [Buffer.alloc(0), 'it has no head'],
    [Buffer.from('# text alone\n'), 'it has no head'],
    [good.subarray(0, good.indexOf(0) + 3), 'it has no head'],
    [good.subarray(0, 1000), 'it ends within its index'],
    [good.subarray(0, -1), 'its index does not add up'],
    [Buffer.concat([good, Buffer.from([0])]), 'its index does not add up'],
  ] as const)
    assert.throws(() => openFunctions(bytes), {
      code: 'functions_broken',
      next: 'stop',
      message: `data/functions.bin: ${what}${remedy}`,
    })
  const spoilt = openFunctions(Buffer.from(good).fill(0xff, index))
  assert.throws(() => spoilt.find(toFunctionSelector('function f()')), {
    code: 'functions_broken',
    message: `data/functions.bin: block 0 does not unpack${remedy}`,
  })
})

test('the functions of a name are all that have it', () => {
  const counts = new Map<string, number>()
  for (const text of functions.texts()) {
    const name = text.slice(2, text.indexOf('('))
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  const names = [...counts.keys()]
  const tried = [names[0]!, names.at(-1)!, 'transfer', 'initialize', ...names.filter((_, i) => i % 9_973 === 0)]
  for (const name of tried) {
    const found = functions.named(name, 10_000)!
    assert.ok(found.every(it => it.name === name))
    assert.equal(found.length, counts.get(name), name)
    assert.equal(functions.named(name, found.length)!.length, found.length)
    assert.equal(functions.named(name, found.length - 1), undefined)
  }
  for (const name of ['', ' ', 'transfe', 'zzzzzzzzzzzz', '~']) assert.deepEqual(functions.named(name, 9), [])
})
