import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeFunctionData, parseAbi } from 'viem'
import { checkRule } from '../../src/rules/schema.ts'
import { encodeCall, parseCall } from '../../src/rules/state/call.ts'
import { createStateReader } from '../../src/rules/state/readings.ts'
import { ruleBody as rule, ruleConfig } from '../support/rules.ts'

const ADDRESS = '0x0D3eB21b6b21833A4939Cfff4810E9AE0758e12C'
const EVERY = { blocks: 25 }
const POOL =
  'function getUserAccountData(address user) view returns (uint256 totalCollateralBase, uint256 totalDebtBase, uint256 availableBorrowsBase, uint256 currentLiquidationThreshold, uint256 ltv, uint256 healthFactor)'
const low = { name: 'value.coin', operator: 'Less', value: '0.5' }
const faultsIn = (config: object) =>
  checkRule(rule({ config: ruleConfig({ targetType: 'State', ...config } as never) })).faults.map(
    ({ path, message }) => `${path}: ${message}`,
  )
const faultsOf = (read: unknown, ...targetMap: unknown[]) => faultsIn({ read, targetMap })
const health = (name: string, value = '1.05') => ({ name, operator: 'Less', value })
const call = { address: ADDRESS, call: POOL, args: [ADDRESS], decimals: 18, every: { blocks: 1 } }

test('the examples of the design are accepted', () => {
  assert.deepEqual(faultsOf({ balances: [ADDRESS], every: EVERY }, low), [])
  assert.deepEqual(faultsOf(call, health('result.healthFactor.scaled')), [])
  assert.deepEqual(faultsOf(call, health('result.5.scaled'), health('previous.result.ltv', '3')), [])
  const inspect = { name: 'result', operator: 'Inspect', operatorParameters: [health('healthFactor')] }
  assert.deepEqual(faultsOf(call, inspect), [])
})

test('faults of what is read name the place and the remedy', () => {
  const balances = { balances: [ADDRESS], every: EVERY }
  const cases: [read: unknown, condition: unknown, fault: string][] = [
    [
      undefined,
      low,
      'config.read: read must be an object with "balances", "address", "call", "args", "decimals" and "every", and is missing.',
    ],
    [
      { every: EVERY },
      low,
      'config.read: read must have either "balances", a list of addresses, or "address" and "call".',
    ],
    [{ balances: [ADDRESS] }, low, 'config.read.every: every must be an object with "blocks", and is missing.'],
    [
      { balances: [ADDRESS], every: { blocks: 0 } },
      low,
      'config.read.every.blocks: blocks must be an integer from 1 to 86400, not 0.',
    ],
    [
      { balances: ['0x1'], every: EVERY },
      low,
      'config.read.balances[0]: balances[0] must be an address: 0x and 40 hexadecimal digits, not "0x1".',
    ],
    [{ ...balances, decimals: 6 }, low, 'config.read.decimals: decimals goes with a call: leave it out.'],
    [
      balances,
      { ...low, value: '0,5' },
      'config.targetMap[0].value: value must be a decimal or 0x-hex number, not "0,5". Write an amount as "1000.5".',
    ],
    [balances, { ...low, name: 'result.x' }, 'config.targetMap[0].name: A balance has "value", not "result".'],
    [
      { ...call, args: [] },
      health('result.ltv'),
      'config.read.args: args must have 1 values, one for each argument of getUserAccountData.',
    ],
    [
      { ...call, args: ['7'] },
      health('result.ltv'),
      'config.read.args[0]: args[0] is not right: it must be of the type address.',
    ],
    [
      { ...call, call: 'function f(address a) view' },
      health('result.ltv'),
      'config.read.call: call is no function that can be read: it must say what it returns, as in "… view returns (uint256 price)".',
    ],
    [
      { ...call, decimals: undefined },
      health('result.ltv.scaled'),
      'config.targetMap[0]: It compares scaled values, and nothing says by how much: set config.read.decimals.',
    ],
    [call, low, 'config.targetMap[0].name: A call has "result", not "value": name result.NAME.'],
  ]
  for (const [read, condition, fault] of cases) assert.deepEqual(faultsOf(read, condition), [fault])
  assert.match(
    faultsOf(call, health('result.health'))[0]!,
    /^config\.targetMap\[0\]\.name: The call returns nothing named "health": "totalCollateralBase", .* or "healthFactor"\.$/,
  )
  assert.match(
    faultsOf(balances, { ...low, name: 'gas' })[0]!,
    /A reading has no attribute "gas" to compare: it has "address", /,
  )
  const many = Array.from({ length: 101 }, (_, i) => `0x${i.toString(16).padStart(40, '0')}`)
  assert.match(faultsOf({ balances: many, every: EVERY }, low)[0]!, /more than 100 balances to read/)
  const event = checkRule(rule({ config: ruleConfig({ read: balances } as never) })).faults
  assert.deepEqual(
    event.map(({ message }) => message),
    ['read goes with the targetType "State": leave it out.'],
  )
})

const OTHER = '0x1454168e82efA260f49a6F86612cc6414Ba633e9'

test('examples of the design with when are accepted', () => {
  const fine = { name: 'value.coin', operator: 'Greater or Equal', value: '1' }
  const relayer = { targetMap: [low], read: { balances: [ADDRESS, OTHER], every: { blocks: 25 } } }
  const when = { by: ['address'], hold: { blocks: 5 }, resolve: [fine] }
  const again = { after: { seconds: 86_400 }, if: 'Worse' }
  assert.deepEqual(faultsIn({ ...relayer, when, notify: { resolved: true, again } }), [])
  const health = { name: 'result.healthFactor.scaled', operator: 'Less', value: '1.05' }
  const healthy = { name: 'result.healthFactor.scaled', operator: 'Greater or Equal', value: '1.15' }
  const pool = { targetMap: [health], read: call, when: { hold: { blocks: 10 }, resolve: [healthy] } }
  assert.deepEqual(faultsIn({ ...pool, notify: { resolved: true } }), [])
})

test('faults of when on readings name the place and the remedy', () => {
  const relayer = { targetMap: [low], read: { balances: [ADDRESS, OTHER], every: EVERY } }
  const cases: [config: object, fault: string][] = [
    [
      { ...relayer, when: {} },
      'config.when: The rule reads several balances, each of which is decided by itself: write "by": ["address"].',
    ],
    [
      { ...relayer, when: { by: ['value'] } },
      'config.when.by[0]: by[0] must be "address", not "value". Readings are told apart by nothing else.',
    ],
    [
      { ...relayer, when: { by: ['address'], conditions: [] } },
      'config.when.conditions: A State rule is decided by its newest reading: leave conditions out, and write in targetMap what it must meet.',
    ],
    [
      { ...relayer, when: { by: ['address'], within: { blocks: 3 } } },
      'config.when.within: A State rule is decided by its newest reading: leave within out, or write in hold how long it must meet targetMap.',
    ],
    [
      { ...relayer, when: { by: ['address'], resolve: [{ ...low, name: 'result.x' }] } },
      'config.when.resolve[0].name: A balance has "value", not "result".',
    ],
    [
      { ...relayer, when: { by: ['address'], resolve: [] } },
      'config.when.resolve: resolve must be a list of 1 to 10 conditions, not a list of 0.',
    ],
    [
      { ...relayer, targetMap: [{ name: 'error', operator: 'Greater', value: '' }], when: { by: ['address'] } },
      'config.targetMap[0].name: With "when", a reading with an error decides nothing: leave when out to be told of errors.',
    ],
    [
      {
        ...{ ...relayer, when: { by: ['address'] } },
        targetMap: [{ operator: 'Or', operatorParameters: [low] }],
        notify: { again: { after: { blocks: 1 }, if: 'Worse' } },
      },
      'config.notify.again.if: No value of this rule can get worse: "Worse" needs a condition in targetMap, beside "Or" and "Not", with "Greater" or "Less" that several values meet. Write one, or leave if out.',
    ],
  ]
  for (const [config, fault] of cases) assert.deepEqual(faultsIn(config), [fault])
})

test('what decides of a reading: its conditions, those of resolve, and nothing where it failed', () => {
  const { readings, verdicts } = createStateReader({ balances: [ADDRESS, OTHER], every: EVERY })
  const take = verdicts({
    ...{ targetType: 'State', targetMap: [low as never], alerts: [] },
    when: { by: ['address'], resolve: [{ name: 'value.coin', operator: 'Greater or Equal', value: '1' }] },
  })
  const block = { number: 50, hash: `0x${'ab'.repeat(32)}`, time: 1_700_000_000 }
  const coins = (tenths: number) => ({ hex: `0x${(BigInt(tenths) * 10n ** 17n).toString(16)}` })
  const found = (...answers: Parameters<typeof readings>[1]) =>
    take(50, readings(block, answers, undefined)).map(({ key, reading }) => [
      ...[key, reading!.meets, reading!.ends, reading!.shown[0]!.value, reading!.source !== undefined],
    ])
  assert.deepEqual(found(coins(4), coins(7)), [
    [JSON.stringify([ADDRESS.toLowerCase()]), true, false, '0.4', true],
    [JSON.stringify([OTHER.toLowerCase()]), false, false, '0.7', false],
  ])
  assert.deepEqual(
    found(coins(10), { error: 'gone' }).map(([, ...rest]) => rest),
    [
      [false, true, '1', false],
      [undefined, false, null, false],
    ],
  )
})

test('calls are encoded as viem does', () => {
  const text = 'function f(address a, uint8 b, int24 c, bool d, bytes4 e) view returns (uint256)'
  const args = [ADDRESS, '255', '-7', 'true', '0x01020304']
  const expected = encodeFunctionData({
    abi: parseAbi([text]),
    args: [ADDRESS, 255, -7, true, '0x01020304'],
  })
  assert.equal(encodeCall(parseCall(text), args), expected)
  assert.throws(() => encodeCall(parseCall(text), [ADDRESS, '256', '-7', 'true', '0x01020304']), /of the type uint8/)
  assert.throws(
    () => encodeCall(parseCall('function f(string s) returns (bool)'), ['x']),
    /type string cannot be given/,
  )
})

test('a reading and the one before', () => {
  const { questions, readings, matches } = createStateReader({
    ...{ address: ADDRESS, call: 'function price() view returns (int256 price, string)', decimals: 2, every: EVERY },
  })
  assert.deepEqual(questions, [{ to: ADDRESS.toLowerCase(), data: '0xa035b1fe' }])
  const word = (value: bigint) => BigInt.asUintN(256, value).toString(16).padStart(64, '0')
  const answer = (value: bigint) => ({ hex: `0x${word(value)}${word(64n)}${word(0n)}` })
  const block = { number: 50, hash: `0x${'ab'.repeat(32)}`, time: 1_700_000_000 }
  const read = (now: { hex: string } | { error: string }, before?: { hex: string } | { error: string }) =>
    readings(block, [now], before && { number: 25, answers: [before] })[0]!._source
  const holds = (name: string, operator: string, value: string, ...at: Parameters<typeof read>) =>
    matches({ targetType: 'State', targetMap: [{ name, operator, value } as never], alerts: [] })(read(...at))

  assert.ok(holds('result.price.scaled', 'Less', '-1.04', answer(-105n)))
  assert.ok(!holds('result.price.scaled', 'Less', '-1.05', answer(-105n)))
  assert.ok(holds('previous.result.price', 'Equals', '-105', answer(1n), answer(-105n)))
  assert.ok(!holds('previous.result.price', 'Equals', '-105', answer(1n)))
  assert.ok(holds('changed', 'Equals', 'true', answer(1n), { error: 'execution reverted' }))
  assert.ok(holds('changed', 'Equals', 'false', answer(1n), answer(1n)))
  assert.equal(read(answer(1n)).changed, null)
  assert.equal(read({ hex: '0x' }).error, 'The answer is empty: there is no contract, or it has no such function.')
  assert.match(String(read({ hex: '0x12' }).error), /^The answer does not fit the declaration: /)
  assert.deepEqual(read({ error: 'execution reverted: stale' }, answer(1n)).error, 'execution reverted: stale')
})
