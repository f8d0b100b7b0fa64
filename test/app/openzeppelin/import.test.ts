import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { services } from '../../../src/app/index.ts'
import { readExpression } from '../../../src/app/openzeppelin/expression.ts'
import { readMonitors } from '../../../src/app/openzeppelin/index.ts'
import { DEFAULT_LIMITS } from '../../../src/limits/index.ts'
import { chainsieve } from '../cli/support.ts'

const root = mkdtempSync(join(tmpdir(), 'chainsieve-openzeppelin-'))
after(() => rmSync(root, { recursive: true }))
let folders = 0

const TOKEN = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const NETWORK = {
  ...{ network_type: 'EVM', slug: 'base_main', name: 'Base', chain_id: 8_453, block_time_ms: 2_000 },
  ...{ confirmation_blocks: 4, cron_schedule: '0 * * * * *', rpc_urls: [{ type_: 'rpc', url: 'x', weight: 1 }] },
}
const MONITOR = {
  ...{ name: 'Big payments', paused: false, networks: ['base_main'], addresses: [{ address: TOKEN }] },
  match_conditions: { functions: [], events: [], transactions: [] },
  ...{ trigger_conditions: [], triggers: ['hook'] },
}
const HOOK = { name: 'Hook', trigger_type: 'webhook', config: { url: 'https://hooks.x.test/a', method: 'POST' } }

/** The folder `config` of a monitor. */
const write = (monitors: object[], triggers: object = { hook: HOOK }, networks: object[] = [NETWORK]): string => {
  const folder = join(root, String(++folders))
  const put = (name: string, value: object) => writeFileSync(join(folder, name), JSON.stringify(value))
  for (const name of ['monitors', 'networks', 'triggers']) mkdirSync(join(folder, name), { recursive: true })
  for (const [i, monitor] of monitors.entries()) put(`monitors/m${i}.json`, monitor)
  for (const [i, network] of networks.entries()) put(`networks/n${i}.json`, network)
  put('triggers/t.json', triggers)
  return folder
}

const read = (monitor: object, triggers?: object, networks?: object[]) => {
  const folder = write([{ ...MONITOR, ...monitor }], triggers, networks)
  const { files, lacks } = readMonitors(folder, { env: { HOOK_URL: 'https://env.x.test/' }, limits: DEFAULT_LIMITS })
  const told = lacks
    .filter(({ path }) => !/rpc_urls|cron_schedule/.test(path))
    .map(({ file, path, message }) => `${file}: ${path}: ${message}`)
  return { rules: files.flatMap(({ rules }) => rules), lacks: told }
}
const on = (conditions: object) => ({ match_conditions: { ...MONITOR.match_conditions, ...conditions } })
const alerts = [{ type: 'Webhook (POST)', parameters: { url: 'https://hooks.x.test/a' } }]
const address = { name: 'address', operator: 'Equals any (ignore case)', value: [TOKEN] }

describe('a monitor', () => {
  test('of an event is a rule with its address, arguments, confirmations and receivers', () => {
    const events = [{ signature: 'Transfer(address, address,uint256)', expression: 'value >= 1000 AND to != 0xAb' }]
    const { rules, lacks } = read(on({ events, transactions: [{ status: 'Success', expression: null }] }))
    assert.deepEqual(lacks, [])
    assert.deepEqual(rules, [
      {
        ...{ name: 'Big payments', maxConfirmationCount: 4 },
        ...{ technology: 'ethereum', blockchain: 'base', network: 'mainnet' },
        config: {
          targetType: 'Event',
          targetMap: [
            address,
            { name: 'event', operator: 'Equals', value: 'Transfer' },
            {
              ...{ name: 'args', operator: 'Inspect' },
              operatorParameters: [
                { name: 'value', operator: 'Greater or Equal', value: '1000' },
                {
                  operator: 'Not',
                  operatorParameters: [{ name: 'to', operator: 'Equals (ignore case)', value: '0xAb' }],
                },
              ],
            },
          ],
          alerts,
        },
      },
    ])
  })

  test('of several conditions and networks is a rule for each', () => {
    const networks = [NETWORK, { ...NETWORK, slug: 'eth', chain_id: 1, confirmation_blocks: 1 }]
    const { rules, lacks } = read(
      {
        networks: ['base_main', 'eth'],
        paused: true,
        ...on({
          events: [{ signature: 'Paused()', expression: null }],
          functions: [{ signature: 'transfer(address,uint256)', expression: null }],
          transactions: [{ status: 'Failure', expression: null }],
        }),
      },
      undefined,
      networks,
    )
    assert.deepEqual(lacks, ['monitors/m0.json: match_conditions.events[0]: a transaction that failed has no events.'])
    assert.deepEqual(
      rules.map(({ name, blockchain, enabled, maxConfirmationCount: depth }) => [name, blockchain, enabled, depth]),
      [
        ['Big payments: base_main', 'base', false, 4],
        ['Big payments: eth', 'ethereum', false, 1],
      ],
    )
    assert.deepEqual(rules[0]!.config.targetMap, [
      { ...address, name: 'to' },
      { name: 'selector', operator: 'Equals', value: '0xa9059cbb' },
      { name: 'reverted', operator: 'Equals', value: 'true' },
    ])
  })

  test('of transactions looks at both ends', () => {
    const transactions = [{ status: 'Any', expression: 'value > 0xff OR (gas_price > 5 and nonce == 1)' }]
    const { rules, lacks } = read(on({ transactions }))
    assert.deepEqual(lacks, [])
    const not = (it: object) => ({ operator: 'Not', operatorParameters: [it] })
    assert.deepEqual(rules[0]!.config.targetMap, [
      {
        operator: 'Or',
        operatorParameters: [
          { ...address, name: 'from' },
          { ...address, name: 'to' },
        ],
      },
      {
        operator: 'Or',
        operatorParameters: [
          { name: 'value', operator: 'Greater', value: '255' },
          {
            operator: 'Not',
            operatorParameters: [
              not({ name: 'gasPrice', operator: 'Greater', value: '5' }),
              not({ name: 'nonce', operator: 'Equals', value: '1' }),
            ],
          },
        ],
      },
    ])
  })

  test('whose condition has no counterpart is written paused, and the line is named', () => {
    const { rules, lacks } = read({
      ...on({
        events: [{ signature: 'Named(string)', expression: 'name contains "x"' }],
        transactions: [{ status: 'Any', expression: 'value > 5' }],
      }),
      trigger_conditions: [{ script_path: 'x.py', language: 'Python' }],
      severity: 'High',
      addresses: [{ address: TOKEN, contract_spec: [{}] }],
    })
    assert.deepEqual(
      rules.map(({ enabled }) => enabled),
      [false],
    )
    assert.deepEqual(lacks, [
      'monitors/m0.json: severity: it has no counterpart.',
      'monitors/m0.json: trigger_conditions[0]: there are no scripts: its rules are written paused, as they would find more.',
      'monitors/m0.json: addresses[0].contract_spec: add the ABI to the server: chainsieve abi add FILE.',
      'monitors/m0.json: match_conditions.transactions[0].expression: a rule looks at the transaction or at what is in it: its rules are written paused.',
      'monitors/m0.json: match_conditions.events[0].expression: "contains" has no counterpart: the rule is written paused, without the expression.',
    ])
  })

  test('that nothing can be made of is named', () => {
    assert.deepEqual(read({ addresses: [] }), {
      rules: [],
      lacks: ['monitors/m0.json: match_conditions: it matches every transaction: no rule is written.'],
    })
    const stellar = { ...NETWORK, network_type: 'Stellar' }
    assert.deepEqual(read({ networks: ['base_main', 'none'] }, undefined, [stellar]).lacks, [
      'networks/n0.json: network_type: only chains of the EVM are indexed: its monitors make no rules.',
      'monitors/m0.json: networks[1]: there is no network of this name.',
    ])
    const { rules, lacks } = read({ triggers: ['none'] })
    assert.deepEqual(rules, [])
    assert.equal(lacks[0], 'monitors/m0.json: triggers[0]: there is no trigger of this name.')
    assert.match(lacks[1]!, /the rule "Big payments" is not written: config.alerts: alerts must be a list of 1 to 10/)
  })

  test('of a chain that is not known is for a network of its name', () => {
    const { rules, lacks } = read({}, undefined, [{ ...NETWORK, chain_id: 999_999 }])
    assert.equal(rules[0]!.blockchain, 'base-main')
    assert.match(lacks[0]!, /chain_id: no chain of this id is known: its rules are for ethereum\/base-main\/mainnet/)
  })
})

/** A token of its messages. */
const mark = (name: string): string => ['$', `{${name}}`].join('')

describe('a trigger', () => {
  const receive = (
    trigger_type: string,
    config: object,
    conditions = on({ events: [{ signature: 'Paid(uint256)' }] }),
  ) => {
    const { rules, lacks } = read(conditions, { hook: { name: 'X', trigger_type, config } })
    return { alert: rules[0]?.config.alerts[0], lacks }
  }
  const message = {
    title: 'Paid',
    body: `${mark('monitor.name')}: ${mark('events.0.args.value')} in ${mark('transaction.hash')} ${mark('events.1.args.x')}`,
  }
  const text = '{$rule}: {args.value} in {transactionHash} events.1.args.x'
  const lack = `triggers/t.json: hook.config.message.body: ${mark('events.1.args.x')} has no counterpart for a rule on Event.`

  test('is a receiver with its message', () => {
    const plain = (value: string) => ({ type: 'Plain', value })
    assert.deepEqual(receive('slack', { slack_url: plain('https://hooks.slack.com/x'), message }), {
      alert: {
        ...{ type: 'Chat', message: text },
        parameters: { url: 'https://hooks.slack.com/x', text: 'Paid', channel: '', username: '' },
      },
      lacks: [lack],
    })
    const token = '110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw'
    const body = mark('event_0_value')
    assert.deepEqual(receive('telegram', { token, chat_id: '-5', message: { body } }), {
      alert: { type: 'Telegram', parameters: { token, chat: '-5' }, message: '{args.value}' },
      lacks: [],
    })
    assert.deepEqual(
      receive('discord', { discord_url: 'https://discord.com/api/webhooks/1/x', message: { body: '' } }),
      {
        alert: { type: 'Discord', parameters: { url: 'https://discord.com/api/webhooks/1/x' } },
        lacks: [],
      },
    )
    const { alert, lacks } = receive('email', { host: 'h', password: 'very secret', recipients: ['a@x.test'] })
    assert.deepEqual(alert, { type: 'Email', parameters: { recipients: ['a@x.test'] } })
    assert.equal(lacks.length, 2)
    assert.doesNotMatch(lacks.join(), /very secret/)
  })

  test('has secrets of the file or the environment', () => {
    const url = (type: string, value: string) => receive('webhook', { url: { type, value }, method: 'GET' })
    assert.deepEqual(url('environment', 'HOOK_URL').alert, {
      ...{ type: 'Webhook (GET)', parameters: { url: 'https://env.x.test/' } },
    })
    assert.match(url('Environment', 'OTHER').lacks[0]!, /hook.config.url: the environment has no OTHER: set it/)
    assert.match(url('HashicorpCloudVault', 'x').lacks[0]!, /write the value itself into the rule/)
    assert.match(receive('script', {}).lacks[0]!, /hook.trigger_type: "script" has no counterpart/)
  })
})

test('an expression is read to its end', () => {
  const read = (text: string) => readExpression(text, name => (name === 'none' ? undefined : name))
  const lacking = (text: string) => (read(text) as { lacking?: string }).lacking
  assert.deepEqual(read("((a == 'x y'))"), {
    conditions: [{ name: 'a', operator: 'Equals (ignore case)', value: 'x y' }],
  })
  assert.deepEqual(read('a == true AND b < 5'), {
    conditions: [
      { name: 'a', operator: 'Equals', value: 'true' },
      { name: 'b', operator: 'Less', value: '5' },
    ],
  })
  assert.equal(lacking('a >'), 'a > has no value')
  assert.equal(lacking('(a > 1'), 'a parenthesis is not closed')
  assert.equal(lacking('a > 1 b'), '"b" is not understood')
  assert.equal(lacking('none > 1'), 'none has no counterpart')
  assert.equal(lacking('a[0] > 1'), 'a[0] has no counterpart')
  assert.equal(lacking('a starts_with "x"'), '"starts_with" has no counterpart')
  assert.equal(lacking('a > 1 AND'), 'it ends too early')
  assert.equal(lacking('a > "x'), '" \\"x" is not understood')
})

test('the command writes files for rules apply, once', async () => {
  const events = [{ signature: 'Transfer(address,address,uint256)', expression: 'value > 5' }]
  const folder = write([{ ...MONITOR, ...on({ events }) }])
  const output = join(root, 'rules')
  const run = (...line: string[]) => chainsieve(['rules', ...line], { openRules: services.openRules })
  const { code, out } = await run('import', 'openzeppelin', folder, output)
  assert.equal(code, 0)
  assert.deepEqual(out.trimEnd().split('\n'), [
    'networks/n0.json: rpc_urls: it is no matter of rules: name nodes with --rpc.',
    'networks/n0.json: cron_schedule: it is no matter of rules: the server follows the chain by itself.',
    `1 rule in 1 file of ${output}. Look at them, then: chainsieve rules apply ${output} --dry-run`,
  ])
  const file = join(output, 'm0.json')
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.equal(JSON.parse(readFileSync(file, 'utf8'))[0].name, 'Big payments')
  assert.match((await run('check', file)).out, /good, 1 rule/)
  const again = await run('import', 'openzeppelin', folder, output)
  assert.equal(again.code, 1)
  assert.match(again.err, /m0\.json cannot be written: .*Name another folder/)
  assert.equal((await run('import', 'tenderly', folder, output)).code, 2)
  assert.match((await run('import', 'openzeppelin', root, output)).err, /networks cannot be read/)
})
