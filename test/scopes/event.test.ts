import assert from 'node:assert/strict'
import { test } from 'node:test'
import { topicOf as topicOfAbi } from '../../src/decode/signature.ts'
import { eventTopic, parameterPlace, parseEvent } from '../../src/scopes/factory.ts'

test('an event is told by its declaration, however it is written', () => {
  const transfer = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
  for (const text of [
    'Transfer(address,address,uint256)',
    'event Transfer(address indexed from, address indexed to, uint value);',
    ' Transfer ( address , address,uint256 ) ',
    transfer.toUpperCase().replace('X', 'x'),
  ])
    assert.equal(eventTopic(text), transfer)
  const inputs = [
    {
      type: 'tuple',
      name: 'a',
      indexed: false,
      components: [
        { type: 'uint256[]', name: 'b' },
        { type: 'bytes32', name: 'c' },
      ],
    },
    { type: 'address[2]', name: 'd', indexed: false },
  ]
  const { topic } = parseEvent('Odd((uint[] b, bytes32) a, address[2])')
  assert.equal(topic, topicOfAbi({ type: 'event', name: 'Odd', inputs } as unknown as Parameters<typeof topicOfAbi>[0]))
})

test('what is no event is refused', () => {
  for (const text of [
    '',
    'Transfer',
    'A(',
    'A(b)',
    'A(address,)',
    'A(address indexed a b)',
    'A((address)',
    'A(uint256))',
  ])
    assert.throws(() => eventTopic(text), { code: 'bad_event' }, text)
})

test('the place of a parameter', () => {
  const pair = 'PairCreated(address indexed token0, address indexed token1, address pair, uint256)'
  assert.deepEqual(parameterPlace(pair, 'token1'), { topic: 2 })
  assert.deepEqual(parameterPlace(pair, 'pair'), { word: 0 })
  assert.deepEqual(parameterPlace(pair, '2'), { word: 0 })
  assert.deepEqual(parameterPlace('A(string s, uint256[] l, address a)', 'a'), { word: 2 })
  for (const [text, name] of [
    [pair, '3'],
    [pair, 'nobody'],
    ['A(uint256[2] l, address a)', 'a'],
  ] as const)
    assert.throws(() => parameterPlace(text, name), { code: 'bad_event' })
})
