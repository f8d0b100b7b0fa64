import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { findIneffective } from '../../src/rules/ineffective.ts'
import { RULE_OPERATORS, type RuleInput, TARGET_TYPES } from '../../src/rules/rule.ts'
import { checkRule } from '../../src/rules/schema.ts'
import { ruleConfig as config, ruleBody as rule } from '../support/rules.ts'

type Json = Record<string, unknown>

const URL = 'https://example.org/hook'
const transfer = { name: 'event', operator: 'Equals', value: 'Transfer' }
const webhook = { type: 'Webhook (POST)', parameters: { url: URL } }
const targets = (...targetMap: unknown[]) => rule({ config: config({ targetMap }) })
const inspect = (...operatorParameters: unknown[]) => ({ name: 'args', operator: 'Inspect', operatorParameters })
const alerts = (...all: unknown[]) => rule({ config: config({ alerts: all }) })
const payload = (...items: unknown[]) => alerts({ ...webhook, payload: items })

const LOCAL = { refusedHost: (host: string) => (host === '127.0.0.1' ? 'a loopback address' : undefined) }
const faultsOf = (value: unknown) => checkRule(value, LOCAL).faults.map(({ path, message }) => `${path}: ${message}`)
const accepted = (value: unknown) => assert.deepEqual(faultsOf(value), [])
const refused = (value: unknown, ...faults: string[]) => assert.deepEqual(faultsOf(value), faults)
const without = (from: Json, name: string) => Object.fromEntries(Object.entries(from).filter(([it]) => it !== name))

test('a rule may wait for a mark of finality', () => {
  for (const mark of ['safe', 'finalized']) accepted(rule({ maxConfirmationCount: mark }))
  refused(
    rule({ maxConfirmationCount: 'latest' }),
    'maxConfirmationCount: maxConfirmationCount must be an integer from 0 to 100000, or "safe" or "finalized", not "latest".',
  )
})

test('a rule with everything is accepted as it is', () => {
  const whole = rule({
    version: 2,
    description: null,
    enabled: false,
    startBlock: 0,
    notifyPending: true,
    team: { name: 'ops', of: [1, 2.5, null] },
    config: {
      targetType: 'Event',
      targetMap: [
        { ...transfer, operatorParameters: null },
        {
          name: 'address',
          operator: 'Equals any (ignore case)',
          value: [`0x${'A'.repeat(40)}`, `0x${'b'.repeat(40)}`],
        },
        { name: 'blockNumber.num', operator: 'Greater or Equal', value: '0x10' },
        {
          ...inspect(
            { name: 'value', operator: 'Greater', value: '-1000.5', useScaledValue: true },
            { name: 'to', operator: 'Equals any', value: [], useScaledValue: false },
            {
              name: 'order',
              operator: 'Inspect',
              value: '',
              operatorParameters: [{ name: 'maker', operator: 'Equals (ignore case)', value: '0xa' }],
            },
          ),
          value: null,
        },
      ],
      alerts: [
        { type: 'Webhook (GET)', parameters: { url: 'http://example.org:8080/{transactionHash}?b={blockNumber.num}' } },
        {
          type: 'Webhook (POST)',
          parameters: { url: 'https://user:key@example.org' },
          payload: [
            { fieldType: 'Field', fieldName: 'transactionHash', subPayloads: null },
            {
              fieldType: 'Sub Field',
              fieldName: 'args',
              subPayloads: [
                {
                  fieldType: 'Sub Field',
                  fieldName: 'value',
                  subPayloads: [{ fieldType: 'Field', fieldName: 'scaled' }],
                },
              ],
            },
          ],
        },
        { type: 'Email', parameters: { recipients: ['a.b+c@example.org', 'ö@münchen.example'] } },
        { type: 'Chat', parameters: { url: URL, text: ':tada:', channel: '#a', username: 'sieve' }, payload: [] },
      ],
    },
  })
  assert.deepEqual(checkRule(whole), { rule: whole, faults: [] })
})

test("what is the server's is left out, what is nobody's is kept", () => {
  const shown = { id: 7, createdAt: 'x', updatedAt: 1, triggerCount: {}, idle: null, warnings: [] }
  assert.deepEqual(checkRule({ ...shown, ...rule({ owner: 'ops', constructor: 'x' }) }), {
    rule: rule({ owner: 'ops', constructor: 'x' }),
    faults: [],
  })
})

test('everything that is missing is told at once, in the order of the rule', () => {
  refused(
    {},
    'name: name must be a string, and is missing.',
    'maxConfirmationCount: maxConfirmationCount must be an integer from 0 to 100000, and is missing.',
    'technology: technology must be one part of a network\'s name, such as "ethereum", and is missing.',
    'blockchain: blockchain must be one part of a network\'s name, such as "ethereum", and is missing.',
    'network: network must be one part of a network\'s name, such as "ethereum", and is missing.',
    'config: config must be an object with "targetType", "targetMap", "alerts", "read", "when" and "notify", and is missing.',
  )
  refused(
    rule({ config: {} }),
    `config.targetType: targetType must be a kind of entity: ${TYPES}, and is missing.`,
    'config.targetMap: targetMap must be a list of 1 to 10 conditions, and is missing.',
    'config.alerts: alerts must be a list of 1 to 10 alerts, and is missing.',
  )
  for (const [value, what] of [
    [null, 'null'],
    [[], 'a list of 0'],
    ['x', '"x"'],
    [5, '5'],
    [undefined, undefined],
  ])
    refused(value, `: The rule must be an object, ${what === undefined ? 'and is missing' : `not ${what}`}.`)
})
const TYPES = '"Event", "Log", "Transaction", "Call", "Contract", "Token", "Trace", "Method", "Block" or "State"'

test('the properties of a rule have their types', () => {
  const integer = 'an integer from 0 to 100000'
  const part = 'one part of a network\'s name, such as "ethereum"'
  const cases: [Json, string][] = [
    [{ name: 5 }, 'name: name must be a string, not 5. Put it in quotes: "5".'],
    [{ maxConfirmationCount: -1 }, `maxConfirmationCount: maxConfirmationCount must be ${integer}, not -1.`],
    [{ maxConfirmationCount: 100_001 }, `maxConfirmationCount: maxConfirmationCount must be ${integer}, not 100001.`],
    [{ maxConfirmationCount: 1.5 }, `maxConfirmationCount: maxConfirmationCount must be ${integer}, not 1.5.`],
    [
      { maxConfirmationCount: '3' },
      `maxConfirmationCount: maxConfirmationCount must be ${integer}, not "3". Write it without quotes.`,
    ],
    [
      { technology: 'Ethereum' },
      `technology: technology must be ${part}, not "Ethereum". Write it in lower case: "ethereum".`,
    ],
    [
      { network: 'main/net' },
      `network: network must be ${part}, not "main/net". It has 1 to 64 lower-case letters, digits, "_", "." and "-", and begins with a letter or digit.`,
    ],
    [{ version: '1' }, 'version: version must be an integer, not "1". Write it without quotes.'],
    [
      { version: 2 ** 53 },
      'version: version must be an integer, not 9007199254740992. Integers above 2^53 - 1 lose digits in JSON.',
    ],
    [{ description: 5 }, 'description: description must be a string or null, not 5.'],
    [{ enabled: 'yes' }, 'enabled: enabled must be true or false, not "yes".'],
    [{ notifyPending: null }, 'notifyPending: notifyPending must be true or false, not null.'],
    [{ startBlock: -1 }, 'startBlock: startBlock must be an integer of at least 0, or null, not -1.'],
    [
      { team: { sizes: [1, 2 ** 60] } },
      'team.sizes[1]: sizes[1] is a number that loses digits in JSON: write it as a string.',
    ],
    [{ 'a b': Number.POSITIVE_INFINITY }, '["a b"]: a b is a number that loses digits in JSON: write it as a string.'],
  ]
  for (const [change, fault] of cases) refused(rule(change), fault)
  accepted(rule({ startBlock: null, description: '' }))
})

test('config has what it has and nothing else', () => {
  refused(
    rule({ config: config({ targetmap: [], version: 1 }) }),
    'config.targetmap: "targetmap" is not a property of the config, which has "targetType", "targetMap", "alerts", "read", "when" and "notify". Did you mean "targetMap"?',
    'config.version: "version" is not a property of the config, which has "targetType", "targetMap", "alerts", "read", "when" and "notify".',
  )
  refused(
    rule({ config: JSON.parse('{"__proto__": {"targetType": "Event"}, "targetType": "Event"}') }),
    'config.__proto__: "__proto__" is not a property of the config, which has "targetType", "targetMap", "alerts", "read", "when" and "notify".',
    'config.targetMap: targetMap must be a list of 1 to 10 conditions, and is missing.',
    'config.alerts: alerts must be a list of 1 to 10 alerts, and is missing.',
  )
  for (const targetType of TARGET_TYPES)
    if (!['Transaction', 'Log', 'Block', 'Trace', 'Call', 'Method', 'Contract', 'Token', 'State'].includes(targetType))
      accepted(rule({ config: config({ targetType }) }))
  refused(
    rule({ config: config({ targetType: 'event' }) }),
    `config.targetType: targetType must be a kind of entity: ${TYPES}, not "event". Did you mean "Event"?`,
  )
})

test('there are 1 to 10 conditions and alerts, all distinct', () => {
  const many = (n: number) => Array.from({ length: n }, (_, i) => ({ ...transfer, value: String(i) }))
  accepted(targets(...many(10)))
  refused(targets(), 'config.targetMap: targetMap must be a list of 1 to 10 conditions, not a list of 0.')
  refused(targets(...many(11)), 'config.targetMap: targetMap must be a list of 1 to 10 conditions, not a list of 11.')
  refused(alerts(), 'config.alerts: alerts must be a list of 1 to 10 alerts, not a list of 0.')
  refused(
    alerts(...many(11).map(({ value }) => ({ ...webhook, parameters: { url: `${URL}/${value}` } }))),
    'config.alerts: alerts must be a list of 1 to 10 alerts, not a list of 11.',
  )
  const reversed = { value: 'Transfer', operator: 'Equals', name: 'event' }
  refused(
    targets(transfer, reversed),
    'config.targetMap[1]: targetMap[1] is the same as targetMap[0]: remove one of them.',
  )
  refused(
    alerts(webhook, { ...webhook, payload: [] }, webhook),
    'config.alerts[2]: alerts[2] is the same as alerts[0]: remove one of them.',
  )
})

test('an operator takes the kind of value that is its own', () => {
  const at = 'config.targetMap[0]'
  for (const operator of RULE_OPERATORS.filter(it => it !== 'Inspect')) {
    const any = operator.startsWith('Equals any')
    accepted(targets({ name: 'event', operator, value: any ? ['a', 'b'] : 'a' }))
    const wrong = faultsOf(targets({ name: 'event', operator, value: any ? 'a' : ['a'] }))
    assert.equal(wrong.length, 1, operator)
    assert.match(wrong[0]!, any ? /must be a list of strings/ : /must be a string with/)
    assert.equal(faultsOf(targets({ name: 'event', operator })).length, 1)
    assert.equal(faultsOf(targets({ name: 'event', operator, value: null })).length, 1)
  }
  const of = (operator: string, value: unknown) => targets({ name: 'event', operator, value })
  refused(
    of('Equals', ['a']),
    `${at}.value: value must be a string with "Equals", not a list of 1. "Equals any" takes a list.`,
  )
  refused(
    of('Greater', 1000),
    `${at}.value: value must be a string with "Greater", not 1000. Put it in quotes: "1000".`,
  )
  refused(
    of('Equals any', 'a'),
    `${at}.value: value must be a list of strings with "Equals any", not "a". Put it in brackets, or use "Equals".`,
  )
  refused(
    of('Equals any', ['a', 5, null]),
    `${at}.value[1]: value[1] must be a string, not 5. Put it in quotes: "5".`,
    `${at}.value[2]: value[2] must be a string, not null.`,
  )
  refused(
    of('greater', '1'),
    `${at}.operator: operator must be an operator: ${[...RULE_OPERATORS, 'Or'].map(it => `"${it}"`).join(', ')} or "Not", not "greater". Did you mean "Greater"?`,
  )
})

test('operatorParameters belong to Inspect, which has two levels below a target', () => {
  const at = 'config.targetMap[0]'
  const none = 'operatorParameters must be a list of one or more conditions on what is inspected'
  refused(targets({ name: 'args', operator: 'Inspect' }), `${at}.operatorParameters: ${none}, and is missing.`)
  refused(targets(inspect()), `${at}.operatorParameters: ${none}, not a list of 0.`)
  refused(targets({ ...inspect(), operatorParameters: null }), `${at}.operatorParameters: ${none}, not null.`)
  refused(
    targets({ ...transfer, operatorParameters: [] }),
    `${at}.operatorParameters: operatorParameters must be null or left out, not a list of 0. Only "Inspect" takes it.`,
  )
  const third = { name: 'x', operator: 'Equals', value: '1' }
  accepted(targets(inspect(inspect(third))))
  accepted(targets(inspect(inspect({ ...third, operatorParameters: null }))))
  const deep = `${at}.operatorParameters[0].operatorParameters[0]`
  refused(
    targets(inspect(inspect(inspect(third)))),
    `${deep}.operator: operator must be another operator, not "Inspect". The third level is the last: it compares.`,
  )
  refused(
    targets(inspect(inspect({ ...third, operatorParameters: [] }))),
    `${deep}.operatorParameters: operatorParameters must be null or left out, not a list of 0. Only "Inspect" takes it, and the third level is the last.`,
  )
  refused(
    targets(inspect('x')),
    `${at}.operatorParameters[0]: operatorParameters[0] must be an object with "name", "operator", "value", "useScaledValue", "sameElement" and "operatorParameters", not "x".`,
  )
  refused(
    targets({ ...inspect(third), value: ['a'] }),
    `${at}.value: value must be a string with "Inspect", not a list of 1.`,
  )
})

test('sameElement is for an Inspect that leads to a list', () => {
  const maker = { name: 'maker', operator: 'Equals', value: '0xa' }
  const orders = { name: 'orders', operator: 'Inspect', sameElement: true, operatorParameters: [maker] }
  const withdrawals = { ...orders, name: 'withdrawals', operatorParameters: [{ ...maker, name: 'index', value: '1' }] }
  accepted(targets(inspect(orders)))
  accepted(
    targets(inspect({ ...orders, sameElement: false }), { operator: 'Not', operatorParameters: [inspect(orders)] }),
  )
  accepted(rule({ config: config({ targetType: 'Block', targetMap: [withdrawals] }) }))
  const at = 'config.targetMap[0]'
  const noList = `${at}.sameElement: sameElement needs a list: an argument that is an array of tuples, or a list of objects.`
  refused(targets({ ...inspect(maker), sameElement: true }), noList)
  refused(
    rule({
      config: config({
        targetType: 'Transaction',
        targetMap: [{ ...withdrawals, name: 'value', operatorParameters: [{ ...maker, name: 'coin' }] }],
      }),
    }),
    noList,
  )
  refused(
    targets({ ...transfer, sameElement: true }),
    `${at}.sameElement: Only "Inspect" takes sameElement: leave it out.`,
  )
  refused(
    targets(inspect({ ...orders, sameElement: 1 })),
    `${at}.operatorParameters[0].sameElement: sameElement must be true or false, not 1.`,
  )
})

test('useScaledValue is for arguments, on the second level, and with a number', () => {
  const at = 'config.targetMap[0]'
  const scaled = { name: 'value', operator: 'Greater', value: '1e3', useScaledValue: true }
  accepted(targets(inspect(scaled)))
  accepted(targets(inspect({ ...scaled, operator: 'Equals any', value: ['1', '0.5'] })))
  const elsewhere =
    'useScaledValue belongs to conditions of the second level, which compare an argument: remove it here.'
  refused(targets({ ...transfer, useScaledValue: false }), `${at}.useScaledValue: ${elsewhere}`)
  refused(
    targets(inspect(inspect(scaled))),
    `${at}.operatorParameters[0].operatorParameters[0].useScaledValue: ${elsewhere}`,
  )
  refused(
    targets(inspect({ ...scaled, useScaledValue: 'true' })),
    `${at}.operatorParameters[0].useScaledValue: useScaledValue must be true or false, not "true".`,
  )
  const numeric = 'must be a decimal or 0x-hex number, since useScaledValue is true'
  refused(
    targets(inspect({ ...scaled, value: 'NaN' })),
    `${at}.operatorParameters[0].value: value ${numeric}, not "NaN". Write an amount as "1000.5".`,
  )
  refused(
    targets(inspect({ ...scaled, operator: 'Equals any', value: ['1', '1,000'] })),
    `${at}.operatorParameters[0].value[1]: value[1] ${numeric}, not "1,000". Write an amount as "1000.5".`,
  )
  const arguments_ =
    'useScaledValue can be true only for arguments, which are the "args" of "Event", "Call" and "Method": leave it out.'
  refused(
    rule({
      config: config({
        targetType: 'Contract',
        targetMap: [{ ...inspect({ ...scaled, name: 'source' }), name: 'abi' }],
      }),
    }),
    `${at}.operatorParameters[0].useScaledValue: ${arguments_}`,
  )
  refused(
    targets({ ...inspect({ ...scaled, name: 'num' }), name: 'blockNumber' }),
    `${at}.operatorParameters[0].useScaledValue: ${arguments_}`,
  )
  refused(
    targets(inspect({ ...inspect({ name: '0', operator: 'Less', value: 'many' }), useScaledValue: true })),
    `${at}.operatorParameters[0].operatorParameters[0].value: value ${numeric}, not "many". Write an amount as "1000.5".`,
  )
  // Without it, what is no number is compared as text.
  accepted(targets(inspect({ ...scaled, value: 'NaN', useScaledValue: false })))
})

test('an attribute that the entity has not is refused with the nearest, once', () => {
  refused(
    targets({ ...transfer, name: 'evnet' }),
    'config.targetMap[0].name: An event has no attribute "evnet" to compare. Did you mean "event"?',
  )
  refused(
    targets({ ...inspect(transfer, { ...transfer, value: 'b' }), name: 'agrs' }),
    'config.targetMap[0].name: An event has nothing named "agrs" to inspect. Did you mean "args"?',
  )
  refused(
    targets({ ...transfer, name: 'args' }),
    'config.targetMap[0].name: An event has no attribute "args" to compare. Use Inspect to reach one of its elements, or an argument by its name.',
  )
  refused(
    targets({ ...transfer, name: '' }),
    'config.targetMap[0].name: name must be a string that is not empty, not "".',
  )
  // Where the entity is not known, neither are its attributes.
  assert.equal(
    faultsOf(rule({ config: config({ targetType: 'Evnet', targetMap: [{ ...transfer, name: 'x' }] }) })).length,
    1,
  )
})

test('an alert has the parameters of its type, all of them', () => {
  const at = 'config.alerts[0]'
  const types =
    '"Webhook (GET)", "Webhook (POST)", "Email", "Chat", "PagerDuty", "Alertmanager", "Telegram", "Discord", "Teams", "ntfy" or "Matrix"'
  refused(
    alerts({ type: 'E-Mail', parameters: [] }),
    `${at}.type: type must be a type of receiver: ${types}, not "E-Mail". Did you mean "Email"?`,
    `${at}.parameters: parameters must be an object, not a list of 0.`,
  )
  refused(
    alerts({ type: 'Email' }),
    `${at}.parameters: parameters must be an object with "recipients", and is missing.`,
  )
  refused(
    alerts({ type: 'Webhook (GET)', parameters: { uri: URL }, text: 'x' }),
    `${at}.text: "text" is not a property of an alert, which has "type", "parameters", "payload" and "message".`,
    `${at}.parameters.uri: "uri" is not a property of the parameters of "Webhook (GET)", which has "url". Did you mean "url"?`,
    `${at}.parameters.url: url must be a URL that starts with http:// or https://, and is missing.`,
  )
  refused(
    alerts({ type: 'Chat', parameters: { url: URL, text: null } }),
    `${at}.parameters.text: text must be a string, not null.`,
    `${at}.parameters.channel: channel must be a string, and is missing.`,
    `${at}.parameters.username: username must be a string, and is missing.`,
  )
})

test('a URL is one of the web, leads outward, and lets nobody else choose where', () => {
  const of = (url: string) => alerts({ type: 'Webhook (GET)', parameters: { url } })
  const at = 'config.alerts[0].parameters.url'
  for (const url of [
    URL,
    `${URL}?a={args.to}#{b}`,
    'http://[2606:4700::1111]/',
    'HTTPS://EXAMPLE.ORG/a b',
    'http://1.1.1.1/{}',
  ])
    accepted(of(url))
  for (const url of [
    '',
    'example.org',
    '/hook',
    'ftp://example.org',
    'javascript:alert(1)',
    'https://',
    'http://a b/',
    '{url}',
  ])
    refused(
      of(url),
      `${at}: url must be a URL that starts with http:// or https://, not ${JSON.stringify(url)}. One is https://example.org/{transactionHash}.`,
    )
  for (const url of [` ${URL}`, `${URL}\n`, 'https://exa\tmple.org', 'https://example.org/\u0000'])
    assert.match(faultsOf(of(url)).join(), /surrounding white space or control characters/)
  for (const url of [
    'https://{to}/',
    'https://{to}.example.org/',
    'https://{from}:{to}@example.org/',
    'http://a@{to}/',
  ])
    refused(of(url), `${at}: url has a token before its path: only path and query may have tokens.`)
  // However it is spelt.
  for (const url of [
    'http://127.0.0.1/',
    'http://127.1',
    'http://2130706433/',
    'http://0x7f.1/{to}',
    'http://a@0177.0.0.1:80/',
  ])
    refused(
      of(url),
      `${at}: url leads to 127.0.0.1, which is a loopback address: use a public address, or have the operator of this server allow it: --allow-target 127.0.0.1/32`,
    )
})

test('recipients are email addresses', () => {
  const of = (...recipients: unknown[]) => alerts({ type: 'Email', parameters: { recipients } })
  const at = 'config.alerts[0].parameters.recipients'
  accepted(of('alice@example.org', 'a@localhost', 'x_y=z@sub.example.co', "o'neill@example.org"))
  refused(of(), `${at}: recipients must be a list of one or more email addresses, not a list of 0.`)
  const bad = [
    'alice',
    'alice@',
    '@example.org',
    'alice@example',
    'a b@example.org',
    'a@b@example.org',
    'a@-example.org',
    'a..b@example.org',
    'a@example..org',
    'Alice <alice@example.org>',
    'a@example.org\nBcc: b@example.org',
    'a,b@example.org',
    `${'a'.repeat(65)}@example.org`,
    `a@${'b'.repeat(300)}.org`,
  ]
  for (const address of bad)
    assert.match(faultsOf(of(address)).join(), /^config\S+recipients\[0\]: .* must be an email address/, address)
})

test('a payload has at most ten distinct fields in three levels', () => {
  const at = 'config.alerts[0].payload'
  const field = (fieldName: string) => ({ fieldType: 'Field', fieldName })
  const sub = (...subPayloads: unknown[]) => ({ fieldType: 'Sub Field', fieldName: 'args', subPayloads })
  const many = (n: number) => Array.from({ length: n }, (_, i) => field(`f${i}`))
  accepted(payload())
  accepted(payload(...many(10)))
  accepted(payload(sub(sub(field('a')))))
  accepted(payload(sub(...many(11))))
  refused(payload(...many(11)), `${at}: payload must be a list of at most 10 fields, not a list of 11.`)
  refused(payload(field('a'), field('a')), `${at}[1]: payload[1] is the same as payload[0]: remove one of them.`)
  refused(
    payload(sub(sub(sub()))),
    `${at}[0].subPayloads[0].subPayloads[0].fieldType: fieldType must be "Field", not "Sub Field". The third level is the last.`,
  )
  refused(
    payload(without(sub(), 'subPayloads')),
    `${at}[0].subPayloads: subPayloads must be a list of fields, and is missing.`,
  )
  refused(
    payload({ ...sub(), fieldType: 'Field' }),
    `${at}[0].subPayloads: subPayloads must be null or left out, not a list of 0. Only "Sub Field" takes it.`,
  )
  refused(
    payload({ fieldType: 'Subfield', name: 'a' }),
    `${at}[0].name: "name" is not a property of a field of a payload, which has "fieldType", "fieldName" and "subPayloads".`,
    `${at}[0].fieldType: fieldType must be one of two: "Field" or "Sub Field", not "Subfield". Did you mean "Sub Field"?`,
    `${at}[0].fieldName: fieldName must be a string that is not empty, and is missing.`,
  )
})

test('what is asked to be sent and is never there is told', () => {
  const { rule: checked } = checkRule(
    rule({
      config: {
        targetType: 'Transaction',
        targetMap: [{ name: 'from', operator: 'Equals', value: `0x${'a'.repeat(40)}` }],
        alerts: [
          { type: 'Webhook (GET)', parameters: { url: `${URL}/{hash}/{blockNumber.nmu}` } },
          {
            ...webhook,
            payload: [
              { fieldType: 'Field', fieldName: 'haash' },
              {
                fieldType: 'Sub Field',
                fieldName: 'value',
                subPayloads: [
                  { fieldType: 'Field', fieldName: 'coin' },
                  { fieldType: 'Field', fieldName: 'coins' },
                ],
              },
            ],
          },
        ],
      },
    }),
  )
  assert.deepEqual(findIneffective(checked!), [
    'A transaction has no "blockNumber.nmu", which the URL of alerts[0] names: it will be left out. Did you mean "blockNumber.num"?',
    'A transaction has no "haash", which the payload of alerts[1] names: it will be left out. Did you mean "hash"?',
    'A transaction has no "value.coins", which the payload of alerts[1] names: it will be left out. Did you mean "value.coin"?',
  ])
  const args = [
    { fieldType: 'Sub Field', fieldName: 'args', subPayloads: [{ fieldType: 'Field', fieldName: 'anything' }] },
  ]
  assert.deepEqual(findIneffective(checkRule(alerts({ ...webhook, payload: args })).rule!), [])
})

test('a hostile body is refused, whatever it is', () => {
  const nested = (depth: number, inner: unknown) => {
    let value = inner
    for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { a: value }
    return value
  }
  accepted(rule({ extra: nested(45, 1) }))
  refused(rule({ extra: nested(10_000, 1) }), 'extra: extra is nested more than 50 levels deep: make it flatter.')
  refused(
    rule({ config: JSON.parse(`${'{"config":'.repeat(10_000)}1${'}'.repeat(10_000)}`) }),
    'config: config is nested more than 50 levels deep: make it flatter.',
  )
  refused(
    JSON.parse(JSON.stringify(rule()).replace('{', '{"__proto__": {"name": "x"},')),
    '__proto__: "__proto__" cannot be kept: give the property another name.',
  )
  assert.equal(
    faultsOf(JSON.parse('{"__proto__": {"name": "x"}}')).includes('name: name must be a string, and is missing.'),
    true,
  )
  const long = 'x'.repeat(30_000)
  accepted(rule({ kept: `\ud800${long}` }))
  for (const fault of faultsOf(
    rule({ technology: long, [long]: 2 ** 60, config: config({ [long]: 1, targetType: long }) }),
  ))
    assert.ok(fault.length < 1_000, fault.slice(0, 1_000))
  // A thousand faults are not told one by one.
  assert.equal(
    faultsOf(targets({ name: 'event', operator: 'Equals any', value: new Array(1_000).fill(0) })).length,
    100,
  )
})

// ---- at random

const text = fc.string({ minLength: 1, unit: 'grapheme' })
const comparison = (name: fc.Arbitrary<string>) =>
  fc.oneof(
    fc.record({
      name,
      operator: fc.constantFrom(
        'Greater',
        'Greater or Equal',
        'Less',
        'Less or Equal',
        'Equals',
        'Equals (ignore case)',
      ),
      value: fc.string(),
    }),
    fc.record({
      name,
      operator: fc.constantFrom('Equals any', 'Equals any (ignore case)'),
      value: fc.array(fc.string()),
    }),
  )
const inspection = (name: fc.Arbitrary<string>, of: fc.Arbitrary<unknown>) =>
  fc.record({
    name,
    operator: fc.constant('Inspect'),
    operatorParameters: fc.array(of, { minLength: 1, maxLength: 3 }),
  })
const second = fc.oneof(
  comparison(text),
  fc.record({
    name: text,
    operator: fc.constantFrom('Greater', 'Equals'),
    value: fc.integer().map(String),
    useScaledValue: fc.boolean(),
  }),
  inspection(text, comparison(fc.constantFrom('hex', 'num', 'scaled', 'type'))),
)
const attribute = fc.constantFrom('event', 'address', 'blockNumber', 'logIndex.num', 'timestamp')
const field = fc.record({ fieldType: fc.constant('Field'), fieldName: text, subPayloads: fc.constant(null) })
const subField = (of: fc.Arbitrary<unknown>) =>
  fc.record({ fieldType: fc.constant('Sub Field'), fieldName: text, subPayloads: fc.array(of, { maxLength: 3 }) })
const items = fc.uniqueArray(fc.oneof(field, subField(fc.oneof(field, subField(field)))), {
  maxLength: 4,
  selector: item => JSON.stringify(item),
})
const parameters = fc.oneof(
  fc.record({
    type: fc.constantFrom('Webhook (GET)', 'Webhook (POST)'),
    parameters: fc.record({ url: fc.webUrl() }),
    payload: items,
  }),
  fc.record({
    type: fc.constant('Email'),
    parameters: fc.record({
      recipients: fc.array(fc.constantFrom('a@example.org', 'b@example.com'), { minLength: 1 }),
    }),
  }),
  fc.record({
    type: fc.constant('Chat'),
    parameters: fc.record({ url: fc.webUrl(), text: fc.string(), channel: fc.string(), username: fc.string() }),
    payload: items,
  }),
)
const distinctOnes = <T>(of: fc.Arbitrary<T>) =>
  fc.uniqueArray(of, { minLength: 1, maxLength: 10, selector: item => JSON.stringify(item) })
const validRule = fc.record({
  name: fc.string(),
  maxConfirmationCount: fc.nat(100_000),
  technology: fc.constant('ethereum'),
  blockchain: fc.constant('gnosis'),
  network: fc.constant('chiado-2.0_x'),
  config: fc.record({
    targetType: fc.constant('Event'),
    targetMap: distinctOnes(fc.oneof(comparison(attribute), inspection(fc.constant('args'), second))),
    alerts: distinctOnes(parameters),
  }),
  version: fc.integer(),
  description: fc.option(fc.string()),
  enabled: fc.boolean(),
  startBlock: fc.option(fc.nat()),
  notifyPending: fc.boolean(),
})

/** Every place inside, with its path as faults write it, and how to put another value there. */
const placesOf = (value: unknown, path = ''): { path: string; value: unknown; put(other: unknown): void }[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([name, inner]) => {
        const at = Array.isArray(value) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`
        const put = (other: unknown) => void Object.assign(value, { [name]: other })
        return [{ path: at, value: inner, put }, ...placesOf(inner, at)]
      })

test('a valid rule is accepted, and refused at the place where it is made wrong', () => {
  // Whether its values can match is another matter.
  const acceptedAsStored = (value: unknown) =>
    assert.deepEqual(checkRule(value, { ...LOCAL, before: value as RuleInput }).faults, [])
  fc.assert(fc.property(validRule, acceptedAsStored), { numRuns: 100, seed: 4 })
  fc.assert(
    fc.property(validRule, fc.nat(), fc.constantFrom('type', 'absent', 'more'), (valid, pick, how) => {
      const changed = structuredClone(valid)
      const places = placesOf(changed)
      const inConfig = places.filter(
        it =>
          it.path.startsWith('config') && !Array.isArray(it.value) && typeof it.value === 'object' && it.value !== null,
      )
      if (how === 'more') {
        const { path, value } = inConfig[pick % inConfig.length]!
        ;(value as Json).whatever = 1
        assert.ok(
          checkRule(changed).faults.some(fault => fault.path === `${path}.whatever`),
          path,
        )
        return
      }
      const required = places.filter(({ path }) => how !== 'absent' || REQUIRED.test(path))
      const { path, value, put } = required[pick % required.length]!
      put(how === 'absent' ? undefined : typeof value === 'string' || path === 'description' ? 7 : 'wrong')
      assert.ok(
        checkRule(changed).faults.some(fault => fault.path === path),
        `${path} of ${JSON.stringify(changed)}`,
      )
    }),
    { numRuns: 1_000, seed: 4 },
  )
})
/** Whatever may be left out is not among them. */
const REQUIRED =
  /(^|\.)(name|maxConfirmationCount|technology|blockchain|network|config|targetType|targetMap|operator|value|alerts|type|parameters|url|recipients|text|channel|username|fieldType|fieldName)$/

test('any value at all is a rule or has faults, the same each time', () => {
  const anything = fc.oneof(
    fc.jsonValue(),
    fc.anything(),
    fc.tuple(validRule, fc.nat(), fc.jsonValue()).map(([valid, pick, value]) => {
      const changed = structuredClone(valid)
      const places = placesOf(changed)
      places[pick % places.length]!.put(value)
      return changed
    }),
    fc.tuple(validRule, fc.dictionary(fc.string(), fc.jsonValue())).map(([valid, more]) => ({ ...more, ...valid })),
  )
  fc.assert(
    fc.property(anything, value => {
      const { rule: made, faults } = checkRule(value)
      assert.equal(made === undefined, faults.length > 0)
      assert.deepEqual(checkRule(value).faults, faults)
      for (const { path, message } of faults) {
        assert.match(message, /^.*[.?]$/su)
        assert.equal(typeof path, 'string')
      }
      assert.equal(new Set(faults.map(fault => JSON.stringify(fault))).size, faults.length)
      if (made)
        assert.deepEqual(checkRule(JSON.parse(JSON.stringify(made))), {
          rule: JSON.parse(JSON.stringify(made)),
          faults: [],
        })
    }),
    { numRuns: 1_000, seed: 4 },
  )
})

test('what a rule says about its messages is checked', () => {
  const withNotify = (notify: unknown, more = {}) => rule({ config: config({ notify, ...more }) })
  accepted(withNotify({}))
  accepted(withNotify({ quiet: { by: ['args.to', 'address'], blocks: 50 } }))
  accepted(withNotify({ quiet: { seconds: 2_592_000 } }))
  refused(
    withNotify(5),
    'config.notify: notify must be an object with "quiet", "group", "resolved" and "again", not 5.',
  )
  refused(
    withNotify({ quite: {} }),
    'config.notify.quite: "quite" is not a property of notify, which has "quiet", "group", "resolved" and "again". Did you mean "quiet"?',
  )
  const which = 'quiet must have either "blocks" or "seconds": how long nothing is told after an alert.'
  refused(withNotify({ quiet: {} }), `config.notify.quiet: ${which}`)
  refused(withNotify({ quiet: { blocks: 1, seconds: 1 } }), `config.notify.quiet: ${which}`)
  refused(
    withNotify({ quiet: { blocks: 0 } }),
    'config.notify.quiet.blocks: blocks must be an integer from 1 to 1000000, not 0.',
  )
  refused(
    withNotify({ quiet: { seconds: '60' } }),
    'config.notify.quiet.seconds: seconds must be an integer from 1 to 2592000, not "60". Write it without quotes.',
  )
  refused(
    withNotify({ quiet: { blocks: 1, by: ['address', 'adress', 'address'] } }),
    'config.notify.quiet.by[1]: An event has no field "adress". An argument is args.NAME.',
    'config.notify.quiet.by[2]: by[2] is in the list twice: leave it out.',
  )
  refused(
    withNotify({ quiet: { blocks: 1, by: ['a', 'b', 'c', 'd'] } }),
    'config.notify.quiet.by: by must be a list of at most 3 names of fields, not a list of 4.',
    ...['a', 'b', 'c'].map(
      (name, i) => `config.notify.quiet.by[${i}]: An event has no field "${name}". An argument is args.NAME.`,
    ),
  )
  accepted(withNotify({ group: { by: ['network', 'args.to'], wait: { seconds: 30 }, size: 100 } }))
  accepted(withNotify({ group: { wait: { seconds: 3_600 } } }))
  refused(
    withNotify({ group: { by: ['net'], size: 1 } }),
    'config.notify.group.by[0]: An event has no field "net". An argument is args.NAME.',
    'config.notify.group.wait: wait must be an object with "seconds", and is missing.',
    'config.notify.group.size: size must be an integer from 2 to 100, not 1.',
  )
  refused(
    withNotify({ group: { wait: { seconds: 3_601 } } }),
    'config.notify.group.wait.seconds: seconds must be an integer from 1 to 3600, not 3601.',
  )
})
