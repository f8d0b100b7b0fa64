import assert from 'node:assert/strict'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openAccounts } from '../../../src/accounts/index.ts'
import { services } from '../../../src/app/index.ts'
import { createChannels } from '../../../src/delivery/channels/index.ts'
import { openDeliveries } from '../../../src/delivery/ledger/store.ts'
import type { Action, RuleInput } from '../../../src/rules/rule.ts'
import { openRules } from '../../../src/rules/store.ts'
import { openSecrets } from '../../../src/rules/webhook-secrets.ts'
import { FAILED, makeAlert, makeOutbox, makeRule, NETWORK, post } from '../../support/delivery.ts'
import { chainsieve, folder, refused, said, wrong } from './support.ts'

const { openRules: service } = services
const rules = (line: string, options: Parameters<typeof chainsieve>[1] = {}) =>
  chainsieve(['rules', ...line.split(' ')], { openRules: service, ...options })

let folders = 0
/** A data folder with the accounts alice (1) and bob (2). */
const dataFolder = (): string => {
  const data = join(folder, `rules-${++folders}`)
  const accounts = openAccounts(data)
  for (const name of ['alice', 'bob']) accounts.createToken(name)
  accounts.close()
  return data
}

const input = (change: Partial<RuleInput> = {}): RuleInput => ({
  ...makeRule(1, [post('https://example.org/hook')]).input,
  name: 'Transfers',
  ...change,
})

const createRules = (data: string, ...inputs: [account: number, input: RuleInput, startBlock: number | null][]) => {
  const store = openRules(data)
  for (const it of inputs) store.create(...it)
  store.close()
}

const T = Date.parse('2026-03-01T00:00:00Z')
const ALERTS: Action[] = [
  post('https://a.example/hooks/0123456789abcdef?key=k'),
  post('https://b.example/{transactionHash}'),
]

/** A data folder with two alerts of rule 1, each delivered to the first receiver and dead at the second, a minute apart. */
const delivered = (): string => {
  const data = dataFolder()
  createRules(data, [1, input({ config: { ...input().config, alerts: ALERTS } }), 0])
  const channels = createChannels({ allowed: [], smtp: undefined, mailFrom: undefined })
  const outbox = makeOutbox()
  const store = openDeliveries(data)
  for (const [i, alert] of ['alert-1', 'alert-2'].entries()) {
    const now = T + i * 60_000
    outbox.add('confirmed', makeAlert(alert))
    const rule = makeRule(1, ALERTS)
    store.expand({ network: NETWORK, identity: 'one' }, outbox.entries.slice(i), () => rule, {
      channels,
      digestMs: 0,
      now,
    })
    for (const lane of store.lanes()) {
      const [job] = store.claim([store.due(lane, 'first', now, 1)], now)
      const outcome = lane.destination.includes('a.example')
        ? { type: 'delivered' as const, status: 204, head: '' }
        : FAILED
      store.settle([{ ids: job!.ids, at: now, latencyMs: 1, outcome }], { now, schedule: [0] })
    }
  }
  store.close()
  return data
}

const statesIn = (data: string): string[] => {
  const store = openDeliveries(data)
  const states = store.list({ limit: 100 }).map(({ id, state }) => `${id} ${state}`)
  store.close()
  return states.toReversed()
}

test('rules list shows the rules of all accounts with their state, and why one is idle', async () => {
  const data = delivered()
  mkdirSync(join(data, 'networks'))
  writeFileSync(join(data, 'networks', `${NETWORK.replaceAll('/', '~')}.sqlite`), '')
  createRules(
    data,
    [2, input({ name: 'Red \u001b[31m\u202ealert\n', maxConfirmationCount: 12, enabled: false }), 0],
    [2, input({ name: 'Elsewhere', network: 'sepolia' }), 5],
    [1, input({ name: 'Soon' }), null],
  )
  const elsewhere = 'ethereum/made-up/sepolia is neither stored nor configured here: the rule starts when it is'
  assert.deepEqual(await rules(`list --data ${data}`), {
    code: 0,
    err: '',
    out: [
      'ID  ACCOUNT  NAME           NETWORK                   TARGET  STATE   CONFIRMATIONS  FIRED',
      '1   alice    Transfers      ethereum/made-up/mainnet  Event   active  0              2',
      '2   bob      Red [31malert  ethereum/made-up/mainnet  Event   paused  12             0',
      '3   bob      Elsewhere      ethereum/made-up/sepolia  Event   idle    0              0',
      '4   alice    Soon           ethereum/made-up/mainnet  Event   idle    0              0',
      `Rule 3 is idle: ${elsewhere}.`,
      'Rule 4 is idle: the head of its network is not known yet: it starts with the next block there, or with "startBlock".',
      '',
    ].join('\n'),
  })
  const { out } = await rules(`list --account bob --json --data ${data}`)
  assert.deepEqual(JSON.parse(out), [
    {
      ...{ id: 2, account: 'bob', network: NETWORK, state: 'paused', idle: null, startBlock: 0, fired: 0 },
      failing: [],
      rule: input({ name: 'Red \u001b[31m\u202ealert\n', maxConfirmationCount: 12, enabled: false }),
    },
    {
      ...{ id: 3, account: 'bob', network: 'ethereum/made-up/sepolia', state: 'idle', idle: elsewhere, startBlock: 5 },
      failing: [],
      fired: 0,
      rule: input({ name: 'Elsewhere', network: 'sepolia' }),
    },
  ])
  assert.deepEqual(
    await rules(`list --account bobb --data ${data}`),
    refused(`There is no account "bobb" in ${data}. Did you mean "bob"?`),
  )
  assert.deepEqual(await rules(`list --data ${dataFolder()}`), said('There are no rules.\n'))
})

test('looking makes no files', async () => {
  const nowhere = join(folder, 'rules-nowhere')
  const none = refused(
    `There are no accounts in ${nowhere}, and therefore no rules: name the right folder with --data.`,
  )
  for (const line of ['list', 'deliveries', 'redeliver --dead', 'secret --account alice', 'simulate 1'])
    assert.deepEqual(await rules(`${line} --data ${nowhere}`), none, line)
  assert.equal(existsSync(nowhere), false)

  const data = dataFolder()
  assert.equal((await rules(`deliveries --data ${data}`)).out, 'There are no such deliveries.\n')
  assert.equal((await rules(`redeliver --dead --data ${data}`)).code, 0)
  assert.equal(existsSync(join(data, 'deliveries.sqlite')), false)
})

const GOOD = JSON.stringify(input())
const MAILS = JSON.stringify(
  input({
    config: {
      ...input().config,
      alerts: [
        {
          type: 'Email',
          parameters: { recipients: ['alice@example.org'] },
          payload: [{ fieldType: 'Field', fieldName: 'txHash' }],
        },
      ],
    },
  }),
)
const INWARD = JSON.stringify(input({ config: { ...input().config, alerts: [post('http://127.0.0.1:9/x')] } }))
const WARNINGS = [
  'Emails cannot be delivered: no mail server is configured (smtp).',
  'An event has no "txHash", which the payload of alerts[0] names: it will be left out.',
]
const LOOPBACK =
  'url leads to 127.0.0.1, which is a loopback address: use a public address, or have the operator of this server allow it: --allow-target 127.0.0.1/32'

test('rules check tells of each file that it is good, its warnings, or every fault with its place', async () => {
  const write = (name: string, text: string | Uint8Array) => writeFileSync(join(folder, name), text)
  write('good.json', GOOD)
  write('mails.json', MAILS)
  write('bad.json', JSON.stringify({ ...input(), name: 7, maxConfirmationCount: -1 }))
  write('two.json', `[${GOOD},${MAILS}]`)
  write('some.json', `[${GOOD},${MAILS},7,${INWARD}]`)
  write('empty.json', '[]')
  write('broken.json', '{"name":')
  write('latin.json', Buffer.from('{"name":"\xe9"}', 'latin1'))
  const check = async (line: string, options = {}) => {
    const { code, out, err } = await rules(`check ${line} --data rules-none`, options)
    assert.equal(err, '')
    return { code, lines: out.replaceAll(`${folder}/`, '').split('\n').slice(0, -1) }
  }
  const paths = (names: string) =>
    names
      .split(' ')
      .map(name => join(folder, name))
      .join(' ')

  assert.deepEqual(await check(paths('good.json mails.json two.json')), {
    code: 0,
    lines: [
      'good.json: good',
      'mails.json: good',
      ...WARNINGS.map(warning => `mails.json: warning: ${warning}`),
      'two.json: good, 2 rules',
      ...WARNINGS.map(warning => `two.json: [1]: warning: ${warning}`),
    ],
  })
  assert.deepEqual(await check(paths('bad.json good.json some.json empty.json broken.json latin.json')), {
    code: 1,
    lines: [
      'bad.json: name: name must be a string, not 7. Put it in quotes: "7".',
      'bad.json: maxConfirmationCount: maxConfirmationCount must be an integer from 0 to 100000, not -1.',
      'good.json: good',
      ...WARNINGS.map(warning => `some.json: [1]: warning: ${warning}`),
      'some.json: [2]: The rule must be an object, not 7.',
      `some.json: [3].config.alerts[0].parameters.url: ${LOOPBACK}`,
      'empty.json: There is no rule in its list.',
      'broken.json: It is not JSON: Unexpected end of JSON input',
      'latin.json: It is not JSON: The encoded data was not valid for encoding utf-8',
    ],
  })
  assert.deepEqual(await check('-', { stdin: `[${INWARD}]` }), {
    code: 1,
    lines: [`standard input: [0].config.alerts[0].parameters.url: ${LOOPBACK}`],
  })
  assert.deepEqual(await check('- --allow-target 127.0.0.0/8', { stdin: INWARD }), {
    code: 0,
    lines: ['standard input: good'],
  })
  const missing = await check(join(folder, 'missing.json'))
  assert.equal(missing.code, 1)
  assert.match(missing.lines.join('\n'), /^missing\.json: It cannot be read: ENOENT: [^\n]*$/)
  assert.equal(existsSync(join(folder, 'rules-none')), false)

  const { code, lines } = await check(`--json ${paths('two.json mails.json broken.json some.json')}`)
  assert.equal(code, 1)
  const warningsAt = (path: string) => WARNINGS.map(message => ({ path, message }))
  assert.deepEqual(JSON.parse(lines.join('')), [
    { file: 'two.json', good: true, faults: [], warnings: warningsAt('[1]'), idle: [] },
    {
      file: 'mails.json',
      good: true,
      faults: [],
      warnings: warningsAt(''),
      idle: [],
    },
    {
      file: 'broken.json',
      good: false,
      faults: [{ path: '', message: 'It is not JSON: Unexpected end of JSON input' }],
      warnings: [],
      idle: [],
    },
    {
      file: 'some.json',
      good: false,
      faults: [
        { path: '[2]', message: 'The rule must be an object, not 7.' },
        { path: '[3].config.alerts[0].parameters.url', message: LOOPBACK },
      ],
      warnings: warningsAt('[1]'),
      idle: [],
    },
  ])
})

test('rules check tells of a network that a configured server does not have', async () => {
  const data = dataFolder()
  const check = () => rules(`check - --data ${data}`, { stdin: GOOD })
  assert.equal((await check()).out, 'standard input: good\n')
  writeFileSync(join(data, 'chainsieve.toml'), '[[networks]]\nnetwork = "a/b/c"\n')
  assert.equal(
    (await check()).out,
    `standard input: good\nstandard input: idle: ${NETWORK} is neither stored nor configured here: the rule starts when it is.\n`,
  )
  writeFileSync(join(data, 'chainsieve.toml'), `[[networks]]\nnetwork = "${NETWORK}"\n`)
  assert.equal((await check()).out, 'standard input: good\n')
})

test('rules simulate refuses what it cannot look through', async () => {
  const data = dataFolder()
  const simulate = (line: string, stdin = GOOD) => rules(`simulate ${line} --data ${data}`, { stdin })
  assert.deepEqual(
    await simulate('-'),
    refused(`There is no ${NETWORK} in ${data}: name the right folder with --data.`),
  )
  assert.deepEqual(await simulate('1'), refused('There is no rule 1: chainsieve rules list shows all rules.'))
  assert.deepEqual(
    await simulate('-', `[${GOOD}]`),
    refused('standard input holds a list: put the one rule that is meant into a file of its own.'),
  )
  assert.deepEqual(await simulate('-', '{'), {
    ...refused(''),
    err: "chainsieve: standard input: It is not JSON: Expected property name or '}' in JSON at position 1 (line 1 column 2)\n",
  })
  assert.deepEqual(await simulate('-', JSON.stringify({ ...input(), name: 1 })), {
    code: 1,
    out: '',
    err: 'standard input: name: name must be a string, not 1. Put it in quotes: "1".\n',
  })
  assert.deepEqual(
    await simulate('- --from 9 --to 3'),
    wrong('The last block, 3, is before the first, 9.', 'rules simulate'),
  )
  assert.deepEqual(await simulate('- --from soon'), {
    code: 2,
    out: '',
    err: 'chainsieve: --from takes a block number, latest, or latest-K for K blocks before the head, not "soon".\n',
  })
})

test('rules deliveries shows the ledger, the newest first, without secrets', async () => {
  const data = delivered()
  const A = 'Webhook (POST)  https://a.example/hooks/[secret]?key=[secret]  delivered  1      -         204'
  const B = 'Webhook (POST)  https://b.example/{transactionHash}            dead       1      -         it answered 500'
  const head = [
    'ID  WHEN                  RULE  ALERT    TYPE             CHANNEL         TARGET                                         STATE      TRIES  NEXT TRY  LAST',
  ]
  assert.deepEqual(await rules(`deliveries --data ${data}`), {
    code: 0,
    err: '',
    out: [
      ...head,
      `4   2026-03-01T00:01:00Z  1     alert-2  alert.confirmed  ${B}`,
      `3   2026-03-01T00:01:00Z  1     alert-2  alert.confirmed  ${A}`,
      `2   2026-03-01T00:00:00Z  1     alert-1  alert.confirmed  ${B}`,
      `1   2026-03-01T00:00:00Z  1     alert-1  alert.confirmed  ${A}`,
      '',
    ].join('\n'),
  })
  const ids = async (line: string) => {
    const { out } = await rules(`deliveries ${line} --json --data ${data}`)
    return (JSON.parse(out) as { id: number }[]).map(({ id }) => id)
  }
  assert.deepEqual(await ids('--dead'), [4, 2])
  assert.deepEqual(await ids('--alert alert-1'), [2, 1])
  assert.deepEqual(await ids('--alert alert-1 --dead --rule 1'), [2])
  assert.deepEqual(await ids('--rule 2'), [])
  assert.deepEqual(await ids('--limit 3'), [4, 3, 2])
  assert.match(
    (await rules(`deliveries --limit 3 --data ${data}`)).out,
    /\nThere are older deliveries: --limit N lists more\.\n$/,
  )
  assert.doesNotMatch((await rules(`deliveries --limit 4 --data ${data}`)).out, /older/)
  assert.deepEqual(JSON.parse((await rules(`deliveries --limit 1 --json --data ${data}`)).out), [
    {
      ...{ id: 4, network: NETWORK, alert: 'alert-2', type: 'alert.confirmed', rule: 1, action: 1 },
      ...{ channel: 'Webhook (POST)', target: 'https://b.example/{transactionHash}', state: 'dead', tries: 1 },
      ...{ nextAt: null, createdAt: '2026-03-01T00:01:00.000Z', deliveredAt: null },
      ...{ lastStatus: 500, lastError: 'it answered 500' },
    },
  ])
})

test('rules redeliver queues what fulfils all that is given, and nothing where nothing is given', async () => {
  const data = delivered()
  const redeliver = (line: string) => rules(`redeliver${line && ` ${line}`} --data ${data}`)
  const before = statesIn(data)
  assert.deepEqual(before, ['1 delivered', '2 dead', '3 delivered', '4 dead'])
  assert.deepEqual(
    await redeliver(''),
    wrong('Which deliveries? Name them, or add --rule, --alert, --dead, --after or --before.', 'rules redeliver'),
  )
  assert.deepEqual(
    await redeliver('first'),
    wrong(
      'A delivery is named by its number, which chainsieve rules deliveries shows, not "first".',
      'rules redeliver',
    ),
  )
  assert.deepEqual(
    await redeliver('--after 2026-03-02 --before 2026-03-01'),
    wrong('--before must not be before --after.', 'rules redeliver'),
  )
  assert.deepEqual(await redeliver('--after 2026-02-31'), {
    code: 2,
    out: '',
    err: 'chainsieve: --after takes a time in ISO 8601, such as 2024-05-17T12:00:00Z, not "2026-02-31".\n',
  })
  const unfit = 'there is none that fits, or it was cancelled, is a test, or a later message took its place.\n'
  for (const line of ['--rule 2', '--alert alert-1 --after 2026-03-01T00:00:30Z', '--dead --before 2026-02-28'])
    assert.deepEqual(await redeliver(line), said(`Nothing is sent again: ${unfit}`), line)
  assert.deepEqual(statesIn(data), before)

  const again = (n: string) => said(`${n} will be sent again, when chainsieve serve runs the next time.\n`)
  assert.deepEqual(await redeliver('--dead --after 2026-03-01T00:01:00Z'), again('1 delivery'))
  assert.deepEqual(statesIn(data), ['1 delivered', '2 dead', '3 delivered', '4 queued'])
  assert.deepEqual(await redeliver('1 9 1'), {
    code: 1,
    out: `Delivery 9 is not sent again: ${unfit}1 delivery will be sent again, when chainsieve serve runs the next time.\n`,
    err: '',
  })
  assert.deepEqual(statesIn(data), ['1 queued', '2 dead', '3 delivered', '4 queued'])
  // What is named must fulfil the rest, too.
  assert.deepEqual(JSON.parse((await redeliver('2 3 --dead --json')).out), { redelivered: 1, left: [3] })
  assert.deepEqual(statesIn(data), ['1 queued', '2 queued', '3 delivered', '4 queued'])
  assert.deepEqual(await redeliver('--before 2026-03-02'), again('4 deliveries'))
})

test('rules secret prints the secret and nothing else, makes it on first use, and keeps the old one for a while', async () => {
  const data = dataFolder()
  const secret = async (line: string) => {
    const { code, out, err } = await rules(`secret --account ${line} --data ${data}`)
    assert.deepEqual([code, err], [0, ''])
    assert.match(out, /^whsec_[A-Za-z0-9+/]{43}=\n$/)
    return out.trim()
  }
  const valid = (account: number, later = 0) => {
    const secrets = openSecrets(data, { now: () => Date.now() + later })
    const current = secrets.current(account)
    secrets.close()
    return current
  }
  const first = await secret('bob')
  assert.equal(await secret('bob'), first)
  assert.notEqual(await secret('alice'), first)
  assert.deepEqual(valid(2), [first])
  const second = await secret('bob --rotate')
  assert.deepEqual(valid(2), [second, first])
  const HOUR = 3_600_000
  assert.deepEqual([valid(2, 23 * HOUR), valid(2, 25 * HOUR)], [[second, first], [second]])
  const third = await secret('bob --rotate --overlap 1h')
  assert.deepEqual([valid(2), valid(2, 2 * HOUR)], [[third, second, first], [third]])

  assert.deepEqual(
    await rules(`secret --account bobb --data ${data}`),
    refused(`There is no account "bobb" in ${data}. Did you mean "bob"?`),
  )
  assert.deepEqual(await rules(`secret --data ${data}`), wrong('Whose secret? Add --account NAME.', 'rules secret'))
  assert.deepEqual(
    await rules(`secret --account bob --overlap 1h --data ${data}`),
    wrong('--overlap belongs to --rotate.', 'rules secret'),
  )
  assert.equal(await secret('bob'), third)
})

test('rules are listed in pages', async () => {
  const data = dataFolder()
  createRules(data, [1, input({ name: 'One' }), 0], [2, input({ name: 'Two' }), 0], [1, input({ name: 'Three' }), 0])
  const list = async (line: string) => {
    const { out } = await rules(`list --data ${data} --json ${line}`.trim())
    return (JSON.parse(out) as { id: number }[]).map(({ id }) => id)
  }
  assert.deepEqual(await list(''), [1, 2, 3])
  assert.deepEqual(await list('--limit 2'), [1, 2])
  assert.deepEqual(await list('--limit 2 --after 2'), [3])
  assert.deepEqual(await list('--account alice --limit 1 --after 1'), [3])
  const { out } = await rules(`list --data ${data} --limit 2`)
  assert.match(out, /\nThere may be more rules: --after 2 lists them\.\n$/)
})
