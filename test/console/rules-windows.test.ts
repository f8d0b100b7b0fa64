import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { checkLayout, DEMO, press, rewrite, see, skip, turnTo, useConsole, violations } from './support.ts'

const RULES = '/alerting/rules'
const DUSD = '0x252bFe6BA05B239912fE0F8f514b3564F40A7A96'
const ALICE = '0x0D3eB21b6b21833A4939Cfff4810E9AE0758e12C'
const alerts = [{ type: 'Webhook (POST)', parameters: { url: 'https://example.org/a' } }]

interface Rule {
  id: number
  config: Record<string, unknown>
}

describe('rules over time and of state in the console', { skip }, () => {
  const bench = useConsole()
  const newest = async () => (await bench.server.ask<Rule[]>(`${RULES}/`)).body.at(-1)!
  const create = async (config: object, more: object = {}) => {
    const { status, body } = await bench.server.ask<Rule>(RULES, {
      ...{ name: 'Rule', maxConfirmationCount: 0, technology: 'ethereum', blockchain: 'demo', network: 'local' },
      ...{ config: { alerts, ...config }, ...more },
    })
    assert.equal(status, 201, JSON.stringify(body))
    return body.id
  }
  const transfers = {
    targetType: 'Event',
    targetMap: [
      { name: 'address', operator: 'Equals', value: DUSD },
      { name: 'event', operator: 'Equals', value: 'Transfer' },
    ],
  }
  const says = (page: Page, text: string) => page.locator('.sentence', { hasText: text }).waitFor()
  const line = (page: Page, name: string) => page.getByRole('group', { name, exact: true })

  test('too much to one receiver within a time: in units, by form alone, told when it is over', async t => {
    const from = JSON.stringify({
      query: { bool: { filter: [{ term: { address: DUSD } }, { term: { 'event.raw': 'Transfer' } }] } },
    })
    const page = await bench.enter(
      t,
      `/console/rules/new?${new URLSearchParams({ network: DEMO, kinds: 'event', from })}`,
    )
    await page.getByLabel('Name', { exact: true }).fill('Much to one')
    await page.getByLabel('URL', { exact: true }).fill('https://example.org/a')
    // Its arguments are known once their preview is.
    await page.getByRole('button', { name: '+ Amount' }).waitFor()
    await page.getByLabel('Notify of').selectOption('matches that are too much together')
    const first = line(page, 'condition over time 1')
    assert.equal(await first.getByLabel('Of', { exact: true }).inputValue(), 'value')
    await first.getByLabel('In units of DUSD').waitFor()
    await first.getByLabel('Value').fill('1000000')
    await press(page, '+ For each …')
    assert.equal(await page.getByLabel('For each 1', { exact: true }).inputValue(), 'to')
    await page.getByLabel('Within', { exact: true }).fill('60')
    await page.getByLabel('Unit of within').selectOption('hours')
    assert.equal(await page.getByLabel('Within', { exact: true }).inputValue(), '60')
    await page.getByLabel('Within', { exact: true }).fill('10')
    await page.getByLabel('Unit of within').selectOption('minutes')
    await page.getByLabel('Also notify when it is over').check()
    await says(
      page,
      'of more than 1,000,000 DUSD in DUSD Transfer to one receiver within 10 minutes, on demo local, 3 blocks later, and again when it is over.',
    )
    await page.getByLabel('URL', { exact: true }).fill('https://example.org/a')
    const found = page.getByRole('region', { name: 'What it would have found' })
    await first.getByLabel('Value').fill('20000')
    await see(found, /^\d+ alerts from 598 matches/, /^\d+ messages to https:\/\/example.org\/a$/, 'Newest alerts')
    await see(found.getByRole('listitem').first(), /sum of value \d/)
    await first.getByLabel('Value').fill('')
    await see(found, 'Complete the conditions to see it.')
    await first.getByLabel('Value').fill('1e9')
    await see(found, /^0 alerts from 598 matches/)
    await first.getByLabel('Value').fill('1000000')
    await press(page, '+ A condition that must hold as well')
    const second = line(page, 'condition over time 2')
    await second.getByLabel('What').selectOption('number of different')
    await second.getByLabel('Of', { exact: true }).fill('from')
    await second.getByLabel('Value').fill('3')
    await says(page, 'of more than 1,000,000 DUSD and more than 3 different from in DUSD Transfer to one receiver')
    await page.getByLabel('Held for (optional)', { exact: true }).fill('5')
    await says(page, 'to one receiver within 10 minutes, held for 5 minutes, on demo local')
    await press(page, '+ A condition of the end')
    await page.getByLabel('Send alerts that come together as one message').check()
    await checkLayout(page)
    await press(page, 'Create the rule')
    await see(page, 'Created the rule.')
    const { when, notify } = (await newest()).config
    assert.deepEqual(when, {
      by: ['args.to'],
      within: { seconds: 600 },
      conditions: [
        { aggregate: 'Sum', name: 'args.value.scaled', operator: 'Greater', value: '1000000' },
        { aggregate: 'Distinct', name: 'args.from', operator: 'Greater', value: '3' },
      ],
      hold: { seconds: 300 },
      resolve: [{ aggregate: 'Count', operator: 'Less', value: '1' }],
    })
    assert.deepEqual(notify, { resolved: true, group: { wait: { seconds: 30 } } })
  })

  test('silence, often and first: an existing rule opens in the form, and becomes another and a plain one', async t => {
    const id = await create({
      ...transfers,
      when: { within: { seconds: 3_900 }, conditions: [{ aggregate: 'Count', operator: 'Less', value: '1' }] },
      notify: { resolved: true },
    })
    const page = await bench.enter(t, `/console/rules/${id}/edit`)
    await says(page, 'of no DUSD Transfer for 65 minutes, on demo local')
    assert.equal(await page.getByLabel('Notify of').inputValue(), 'silent')
    assert.equal(await page.getByLabel('Within', { exact: true }).inputValue(), '65')
    await press(page, '+ For each …')
    await press(page, 'Save the rule')
    await see(page.getByRole('group', { name: 'condition over time 1' }), 'name those to watch in keys')
    assert.deepEqual(await violations(page), [])
    await page.getByLabel('Watched although nothing matches').fill(ALICE)
    await says(page, 'of no DUSD Transfer to one receiver for 65 minutes')
    await press(page, 'Save the rule')
    await see(page, 'Saved the rule.')
    assert.deepEqual(((await newest()).config.when as { keys: string[] }).keys, [ALICE])

    await page.goBack()
    await page.goto(`${bench.server.url}/console/rules/${id}/edit`)
    await page.getByLabel('Notify of').selectOption('a value that is seen for the first time')
    await line(page, 'condition over time 1').getByLabel('Of', { exact: true }).fill('from')
    await says(page, 'of a new from in DUSD Transfer to one receiver within 65 minutes')
    await page.getByLabel('Notify of').selectOption('each match')
    await says(page, 'of each DUSD Transfer on demo local')
    await page.getByLabel('After an alert, stay quiet for a time').check()
    await page.getByLabel('Unit of quiet for').selectOption('blocks')
    await page.getByLabel('Quiet for', { exact: true }).fill('50')
    await press(line(page, 'Quiet time'), '+ For each …')
    await says(page, ', then quiet for 50 blocks for the same to.')
    await press(page, 'Save the rule')
    await see(page, 'Saved the rule.')
    const { when, notify } = (await newest()).config
    assert.deepEqual([when, notify], [undefined, { quiet: { by: ['args.to'], blocks: 50 } }])
  })

  test('what the form has no place for stays as it is, and is named', async t => {
    const page = await bench.enter(t, '/console/rules/new')
    await turnTo(page, 'JSON')
    const editor = page.getByRole('textbox', { name: 'The rule as JSON' })
    await see(editor, '"targetMap"')
    const when = {
      within: { blocks: 5, later: 1 },
      later: { blocks: 2 },
      conditions: [{ aggregate: 'Sum', name: 'gas', operator: 'Less', value: '1', later: 'x' }],
    }
    await rewrite(
      editor,
      JSON.stringify({
        ...{ name: 'Kept', maxConfirmationCount: 0, technology: 'ethereum', blockchain: 'demo', network: 'local' },
        config: { ...transfers, targetType: 'Transaction', alerts, when, notify: { evermore: true } },
      }),
    )
    await turnTo(page, 'Form')
    await see(page, 'The form has no place for later, evermore. It keeps them as written: change them as JSON.')
    await line(page, 'condition over time 1').getByLabel('Value').fill('2')
    await page.getByLabel('Within', { exact: true }).fill('7')
    await turnTo(page, 'JSON')
    await editor.press('Control+End')
    const text = (await editor.textContent())!.replace(/\s+/g, '')
    assert.match(text, /"within":\{"later":1,"blocks":7\},"later":\{"blocks":2\}/)
    assert.match(text, /"value":"2","later":"x"/)
    assert.match(text, /"notify":\{"evermore":true\}/)
  })

  test('names that all objects inherit are said as they were typed', async t => {
    const page = await bench.enter(t, '/console/rules/new')
    await turnTo(page, 'JSON')
    const editor = page.getByRole('textbox', { name: 'The rule as JSON' })
    await see(editor, '"targetMap"')
    const conditions = [{ aggregate: 'constructor', name: 'gas', operator: 'toString', value: '1' }]
    const targetMap = [{ name: 'nonce', operator: 'valueOf', value: '3' }]
    await rewrite(
      editor,
      JSON.stringify({
        ...{ name: 'Odd', maxConfirmationCount: 0, technology: 'ethereum', blockchain: 'demo', network: 'local' },
        config: { targetType: 'Transaction', targetMap, alerts, when: { within: { blocks: 5 }, conditions } },
      }),
    )
    await says(page, 'a constructor gas of toString 1')
    await says(page, 'whose nonce valueOf 3')
    await turnTo(page, 'Form')
    await line(page, 'condition over time 1').getByLabel('Value').waitFor()
  })

  test('a balance and an answer are read every so many blocks', async t => {
    const page = await bench.enter(t, '/console/rules/new')
    await page.getByLabel('Name', { exact: true }).fill('Low')
    await page.getByLabel('URL', { exact: true }).fill('https://example.org/a')
    await page.getByLabel('Looks at').selectOption('State')
    await page.getByLabel('Addresses, one on each line').fill(ALICE)
    await page.getByLabel('Every so many blocks').fill('5')
    await page.getByLabel('Value', { exact: true }).fill('0.5')
    await says(page, 'of each reading of 0x0D3e…e12C every 5 blocks of less than 0.5 ETH on demo local')
    await press(page, 'Read these blocks from the node')
    await see(page, 'This server has no node of ethereum/demo/local to read its state from')
    const at = { blockNumber: { num: 40, raw: '0x28' }, timestamp: 1_767_323_045, args: [], error: null }
    const hit = {
      _type: 'state',
      _id: `0x12_s_${ALICE}`,
      _source: { ...at, address: ALICE, call: 'balance', value: { coin: 0.4 } },
    }
    const moment = { block: 41, time: '2026-01-02T03:04:17.000Z' }
    const peak = [{ name: 'value.coin', value: '0.25' }]
    const episode = { key: { address: ALICE }, opened: moment, ended: null, matches: 3, peak }
    await page.route('**/alerting/rules/simulate', route =>
      route.fulfill({
        json: {
          ...{ total: 3, alerts: 1, fromBlock: 1, toBlock: 50, complete: true, holes: [], hits: [hit], series: null },
          ...{ messages: [], warnings: [], windows: { episodes: [episode], open: 1, undecided: [] } },
        },
      }),
    )
    // Other conditions are asked for anew: each reading is a call of the node.
    await page.getByLabel('Value', { exact: true }).fill('0.6')
    await press(page, 'Read these blocks from the node')
    await see(page, 'Newest alerts, 1 still open')
    await see(page.locator('section', { hasText: 'What it would have found' }), 'value.coin 0.25')
    await see(page, 'Block 40')
    await see(page, 'balance: 0.4')
    await page.unroute('**/alerting/rules/simulate')
    await page.getByLabel('Value', { exact: true }).fill('0.5')
    await page.getByLabel('Notify of').selectOption('the first one, until one does not meet them')
    await page.getByLabel('Unit of held for').selectOption('blocks')
    await page.getByLabel('Held for (optional)', { exact: true }).fill('5')
    await says(page, 'of the newest reading of 0x0D3e…e12C every 5 blocks of less than 0.5 ETH')
    await checkLayout(page)
    await press(page, 'Create the rule')
    await see(page, 'Created the rule.')
    const { id, config } = await newest()
    assert.deepEqual(config, {
      ...{ targetType: 'State', alerts },
      read: { balances: [ALICE], every: { blocks: 5 } },
      targetMap: [{ name: 'value.coin', operator: 'Less', value: '0.5' }],
      when: { by: ['address'], hold: { blocks: 5 } },
    })
    await page.goto(`${bench.server.url}/console/rules/${id}/edit`)
    await page.getByLabel('Notify of').selectOption('each reading that meets them')
    await page.getByLabel('Reads', { exact: true }).selectOption('call')
    await page.getByLabel('Contract', { exact: true }).fill(DUSD)
    await page.getByLabel('Function').fill('function balanceOf(address who) view returns (uint256 amount)')
    await page.getByLabel('Field').fill('result.')
    await page.getByRole('option', { name: /^result\.amount/ }).click()
    await page.getByLabel('Value', { exact: true }).fill('1000')
    await press(page, 'Save the rule')
    await see(page.locator('.field'), 'args must have 1 values, one for each argument of balanceOf.')
    await page.getByLabel('Arguments, one on each line').fill(ALICE)
    await says(
      page,
      'of each reading of balanceOf of DUSD every 5 blocks whose result.amount is more than 1,000 on demo',
    )
    await press(page, 'Save the rule')
    await see(page, 'Saved the rule.')
    assert.deepEqual((await newest()).config.read, {
      ...{ address: DUSD, call: 'function balanceOf(address who) view returns (uint256 amount)', args: [ALICE] },
      every: { blocks: 5 },
    })
    await page.goto(`${bench.server.url}/console/rules/${id}/edit`)
    await page.getByLabel('Looks at').selectOption('Event')
    await says(page, 'of each event on demo local')
    await turnTo(page, 'JSON')
    const editor = page.getByRole('textbox', { name: 'The rule as JSON' })
    await see(editor, '"targetType"')
    assert.doesNotMatch((await editor.textContent())!, /"read"/)
  })

  test('alerts of windows: for whom, since when, with what; open, ended and retracted; hostile keys stay text', async t => {
    const id = await create({
      ...transfers,
      when: {
        ...{ by: ['args.to'], within: { seconds: 600 } },
        conditions: [{ aggregate: 'Sum', name: 'args.value.scaled', operator: 'Greater', value: '1' }],
      },
    })
    const at = '2026-01-02T03:04:05.000Z'
    const sum = (value: string) => [{ aggregate: 'Sum', name: 'args.value.scaled', value }]
    const alert = (state: string, key: string | null, more: object = {}) => ({
      ...{ id: `alert_${state}${key}`, state, block: 12, blockHash: '0x12', confirmations: 0, deliveries: [] },
      ...{ entity: { _id: '0xab_1', _type: 'event' }, receivedAt: at, changedAt: at, targetType: 'Event' },
      when: {
        ...{ key: { 'args.to': key }, window: { fromBlock: 2, toBlock: 12, seconds: 600 } },
        ...{ conditions: sum('1250000.50'), matches: 4, entities: [], late: false, ...more },
      },
    })
    const ended = { ended: { block: 20, conditions: sum('0') } }
    const page = await bench.open(t)
    await page.route(`**/alerting/rules/${id}/alerts?**`, route =>
      route.fulfill({
        json: {
          alerts: [
            alert('confirmed', DUSD),
            alert('confirmed', '<img src=x>\u202e', ended),
            alert('resolved', ALICE, ended),
            alert('retracted', null),
          ],
          next: null,
        },
      }),
    )
    await page.evaluate(token => sessionStorage.setItem('chainsieve.token', token), bench.server.token)
    await page.goto(`${bench.server.url}/console/rules/${id}`)
    const grid = page.getByRole('grid', { name: 'Alerts' })
    await see(grid, 'DUSD')
    const rows = await grid.getByRole('row').allTextContents()
    const cells = rows.slice(1).map(text => text.replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, '|'))
    assert.deepEqual(cells, [
      'openDUSDsum of value 1,250,000.5|12',
      'ending<img src=x>U+202Esum of value 1,250,000.5|in block 2012',
      'ended0x0D3e…e12Csum of value 1,250,000.5||12',
      'retractednonesum of value 1,250,000.5|12',
    ])
    await grid.getByText('ending').click()
    const opened = page.getByRole('complementary', { name: 'The open alert' })
    await see(opened, 'Its conditions held until block 20.', '10 minutes, blocks 2 to 12', 'sum of value 0')
    await page.getByLabel('State', { exact: true }).selectOption('open')
    assert.equal(new URL(page.url()).searchParams.get('state'), 'confirmed')
    await checkLayout(page)
  })
})
