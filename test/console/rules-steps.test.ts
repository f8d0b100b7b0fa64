import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import * as WORKED from '../support/worked-rules.ts'
import { checkLayout, DEMO, press, see, skip, useConsole } from './support.ts'

const RULES = '/alerting/rules'
const DUSD = '0x252bFe6BA05B239912fE0F8f514b3564F40A7A96'
const alerts = [{ type: 'Webhook (POST)', parameters: { url: 'https://example.org/a' } }]

type Config = Record<string, unknown>

const AGAIN = { after: { seconds: 86_400 }, if: 'Worse' }
const RELAYER = { ...WORKED.RELAYER_WITHOUT_GAS, notify: { resolved: true, again: AGAIN } }

describe('rules with steps, ends and reminders in the console', { skip }, () => {
  const bench = useConsole()
  const says = (page: Page, text: string) => page.locator('.sentence', { hasText: text }).waitFor()
  const group = (page: Page, name: string) => page.getByRole('group', { name, exact: true })
  const newest = async () => (await bench.server.ask<{ config: Config }[]>(`${RULES}/`)).body.at(-1)!.config

  /** Opens a rule of these settings in the form, as if it was stored; `saved` is the text that the form saves. */
  const open = async (t: TestContext, name: string, config: Config, more: object = {}) => {
    const own = {
      ...{ name, maxConfirmationCount: 2, technology: 'ethereum', blockchain: 'demo', network: 'local' },
      ...{ config: { ...config, alerts }, enabled: true, startBlock: null, ...more },
    }
    const at = '2026-01-02T03:04:05.000Z'
    const added = { createdAt: at, updatedAt: at, triggerCount: 0, idle: null, failing: [], warnings: [] }
    const page = await bench.open(t)
    const saved: string[] = []
    await page.route(/\/alerting\/rules\/77(\?.*)?$/, route => {
      const request = route.request()
      if (request.method() === 'PUT') saved.push(request.postData()!)
      return route.fulfill({ json: { id: 77, ...own, ...added }, headers: { etag: '"1"' } })
    })
    await page.evaluate(token => sessionStorage.setItem('chainsieve.token', token), bench.server.token)
    await page.goto(`${bench.server.url}/console/rules/77/edit`)
    const save = async () => {
      await press(page, 'Save the rule')
      await see(page, 'Saved the rule.')
      return saved.at(-1)!
    }
    return { page, own, save }
  }

  test('what comes next, what must not come and what ends it: by form and keys alone, also on a phone', async t => {
    const page = await bench.enter(t, '/console/rules/new')
    await page.getByLabel('Name', { exact: true }).fill('Approved and taken')
    await page.getByLabel('URL', { exact: true }).fill('https://example.org/a')
    await group(page, 'condition 1').getByLabel('Value').fill('Approval')
    await page.getByRole('button', { name: '+ Amount' }).waitFor()
    // An approval has no sender, which other events have.
    await page.getByRole('button', { name: '+ Sender' }).waitFor({ state: 'hidden' })
    await page.getByLabel('Notify of').selectOption('matches that follow each other')
    const [second, third, end] = ['Step 2', 'Step 3', 'What ends it without an alert'].map(it => group(page, it)) as [
      ReturnType<typeof group>,
      ReturnType<typeof group>,
      ReturnType<typeof group>,
    ]
    await second.getByLabel('Value').fill('Transfer')
    await page.getByRole('button', { name: '+ For each …' }).press('Enter')
    assert.equal(await page.getByLabel('For each 1', { exact: true }).inputValue(), 'owner')
    const same = second.getByLabel('Same as owner')
    await same.fill('from')
    await page.getByLabel('Within', { exact: true }).fill('2')
    await says(page, 'of each Approval followed by Transfer with the same owner within 2 hours, on demo local')
    const found = page.getByRole('region', { name: 'What it would have found' })
    await see(found, /^\d+ alerts? from \d+ matches/, 'Newest alerts')
    await see(found.getByRole('listitem').first(), /^block \d+ → block \d+$/)

    await page.getByRole('button', { name: '+ What ends it without an alert' }).press('Enter')
    await end.getByLabel('Looks at').selectOption('Transactions')
    await end.getByLabel('Field').fill('to')
    await end.getByLabel('Value').fill(DUSD)
    await end.getByLabel('Same as owner').fill('from')
    await page.getByRole('button', { name: '+ Another step' }).press('Enter')
    await third.getByLabel('Value').fill('Withdrawal')
    await third.getByLabel('Same as owner').fill('src')
    await third.getByLabel('It must not come').press('Space')
    await says(
      page,
      'of each Approval followed by Transfer, but not by Withdrawal with the same owner within 2 hours, unless transaction to DUSD comes before, on demo local',
    )
    // The last one stays the last.
    await press(page, '+ Another step')
    await third.getByLabel('Value').fill('Sync')
    await see(group(page, 'Step 4'), 'It must not come')
    await says(page, 'followed by Transfer, then Sync, but not by Withdrawal with')
    await press(third, 'Remove step 3')
    await press(page, '+ For each …')
    await press(page, 'Remove for each owner')
    await page.getByLabel('For each 1', { exact: true }).fill('spender')
    await second.getByLabel('Same as spender').fill('to')
    await press(page, 'Create the rule')
    await see(page, 'The rule was not saved.')
    await press(page, 'Remove for each spender')
    await checkLayout(page)
    await press(page, 'Create the rule')
    await see(page, 'Created the rule.')
    const event = (value: string) => ({
      ...{ targetType: 'Event', targetMap: [{ name: 'event', operator: 'Equals', value }] },
    })
    const { when, targetMap } = await newest()
    assert.deepEqual(targetMap, event('Approval').targetMap)
    assert.deepEqual(when, {
      steps: [{}, event('Transfer'), { ...event('Withdrawal'), missing: true }],
      within: { seconds: 7_200 },
      until: { targetType: 'Transaction', targetMap: [{ name: 'to', operator: 'Equals', value: DUSD }] },
    })
  })

  test('windows become steps for the same values, and windows again', async t => {
    const { page, save } = await open(t, 'Often', {
      targetType: 'Event',
      targetMap: [{ name: 'event', operator: 'Equals', value: 'Transfer' }],
      when: {
        ...{ by: ['args.from'], within: { blocks: 9 } },
        conditions: [{ aggregate: 'Count', operator: 'Greater', value: '5' }],
      },
      notify: { resolved: true },
    })
    await page.getByLabel('Notify of').selectOption('matches that follow each other')
    await group(page, 'Step 2').getByLabel('Value').fill('Approval')
    await says(
      page,
      'of each Transfer followed by Approval with the same from within 9 blocks, on demo local, 2 blocks',
    )
    assert.deepEqual(await page.getByLabel('Also notify when it is over').count(), 0)
    await page.getByLabel('Notify of').selectOption('no match for a time')
    await says(page, 'of no Transfer from one sender for 9 blocks, on demo local')
    const { when, notify } = (JSON.parse(await save()) as { config: Config }).config
    assert.deepEqual(when, {
      ...{ by: ['args.from'], within: { blocks: 9 } },
      conditions: [{ aggregate: 'Count', operator: 'Less', value: '1' }],
    })
    assert.equal(notify, undefined)
  })

  test('each worked rule is saved as it was opened', async t => {
    for (const [name, config] of Object.entries({ ...WORKED, RELAYER })) {
      const { page, own, save } = await open(t, name, config)
      await page.getByLabel('Name', { exact: true }).waitFor()
      // Its fields are known by now, which may change what was typed.
      await page.waitForLoadState('networkidle')
      assert.equal(await page.getByText('The form has no place for').count(), 0, name)
      assert.equal(await save(), JSON.stringify(own), name)
    }
  })

  test('worked rules are said in words, and change by the form as expected', async t => {
    const changed = async (config: Config, sentence: string, change: (page: Page) => Promise<unknown>) => {
      const { page, save } = await open(t, 'Worked', config)
      await says(page, sentence)
      await change(page)
      const { alerts: _, ...after } = (JSON.parse(await save()) as { config: Config }).config
      return after
    }
    const owner = await changed(
      WORKED.CHANGED_THEN_UPGRADED,
      'of each OwnershipTransferred followed by Upgraded with the same address within 300 blocks, unless CallScheduled comes before, on demo local',
      async page => {
        await page.getByLabel('For each 1', { exact: true }).fill('blockHash')
        assert.equal(await group(page, 'Step 2').getByLabel('Same as blockHash').inputValue(), 'blockHash')
        await press(group(page, 'What ends it without an alert'), 'Remove what ends it')
      },
    )
    const [, upgraded] = WORKED.CHANGED_THEN_UPGRADED.when.steps
    assert.deepEqual(owner, {
      ...WORKED.CHANGED_THEN_UPGRADED,
      when: { steps: [{ by: ['blockHash'] }, { ...upgraded, by: ['blockHash'] }], within: { blocks: 300 } },
    })
    await changed(
      WORKED.SCHEDULED_AND_LEFT,
      'of each CallScheduled not followed by CallExecuted or Cancelled with the same address and id within 3 days, on demo local',
      async () => {},
    )

    const lasting = 'over once value.coin is at least 1, on demo local, 2 blocks later, and again when it is over'
    const relayer = await changed(
      RELAYER,
      `every 25 blocks of less than 0.5 ETH for each address, held for 5 blocks, ${lasting}, again each day while it lasts, if it is worse.`,
      async page => {
        await group(page, 'End').getByLabel('Value').fill('2')
        await group(page, 'Reminders').getByLabel('After', { exact: true }).fill('2')
        await group(page, 'Reminders').getByLabel('Only if it is worse').uncheck()
        await says(page, 'over once value.coin is at least 2, on')
        await says(page, 'again each 2 days while it lasts.')
        await checkLayout(page)
      },
    )
    assert.deepEqual(relayer, {
      ...RELAYER,
      when: { ...RELAYER.when, resolve: [{ name: 'value.coin', operator: 'Greater or Equal', value: '2' }] },
      notify: { resolved: true, again: { after: { seconds: 172_800 } } },
    })
    const health = await changed(
      WORKED.LOW_HEALTH_FACTOR,
      'over once result.healthFactor.scaled is at least 1.15, on',
      async page => {
        await press(group(page, 'End'), 'Remove condition 1')
        await press(page, '+ A condition of the end')
        assert.equal(await group(page, 'End').getByLabel('Operator').inputValue(), 'Greater or Equal')
        await group(page, 'End').getByLabel('Value').fill('1.2')
        await page.getByLabel('Remind while it lasts').check()
        await page.getByLabel('Unit of after').selectOption('blocks')
        await group(page, 'Reminders').getByLabel('After', { exact: true }).fill('100')
      },
    )
    const end = { name: 'result.healthFactor.scaled', operator: 'Greater or Equal', value: '1.2' }
    assert.deepEqual(health, {
      ...WORKED.LOW_HEALTH_FACTOR,
      when: { hold: { blocks: 10 }, resolve: [end] },
      notify: { resolved: true, again: { after: { blocks: 100 } } },
    })

    const router = await changed(
      WORKED.FAILING_ROUTER,
      'of a number of matches of more than 5 times the mean of the 12 windows before and at least 20 matches in transaction to 0x68b3…Fc45 whose status is false within 5 minutes, on demo local',
      async page => {
        const [first, second] = ['1', '2'].map(it => group(page, `condition over time ${it}`))
        await second!.getByLabel('Times the mean before').check()
        await second!.getByLabel('Of so many windows', { exact: true }).fill('3')
        await says(page, 'and a number of matches of at least 20 times the mean of the 3 windows before in transaction')
        await checkLayout(page)
        await first!.getByLabel('What').selectOption('highest')
        await first!.getByLabel('Of', { exact: true }).fill('value')
      },
    )
    assert.deepEqual(router.when, {
      within: { seconds: 300 },
      conditions: [
        { aggregate: 'Maximum', operator: 'Greater', value: '5', name: 'value' },
        { aggregate: 'Count', operator: 'Greater or Equal', value: '20', relativeTo: { windows: 3 } },
      ],
    })
  })

  test('a rule of several networks is over all of them together, with steps in networks of their own', async t => {
    const [first, second] = WORKED.CHANGED_THEN_UPGRADED.when.steps
    const steps = [{ ...first, network: DEMO }, second!]
    const when = { steps, within: { seconds: 600 }, across: true }
    const rule = { ...WORKED.CHANGED_THEN_UPGRADED, when }
    const { page, own, save } = await open(t, 'Bridge', rule, { technology: '*', blockchain: '*', network: '*' })
    await says(page, 'of each OwnershipTransferred on demo local followed by Upgraded with the same address within')
    await says(page, 'within 10 minutes, on all networks together, 2 blocks later')
    assert.equal(await page.getByText('The form has no place for').count(), 0)
    await group(page, 'Step 2').getByLabel('In the network').selectOption(DEMO)
    await page.getByLabel('In the network').first().selectOption('any of the rule')
    await page.getByLabel('Over all its networks together').uncheck()
    await checkLayout(page)
    const config = { ...own.config, when: { steps: [first, { ...second, network: DEMO }], within: { seconds: 600 } } }
    assert.deepEqual(JSON.parse(await save()), { ...own, config })
  })

  test('steps that are none, and a first one of its own, are shown; what the chain names stays text', async t => {
    const named = [{ name: 'event', operator: 'Equals', value: '<img src=x>\u202e' }]
    const when = {
      steps: [{ targetType: 'Event', targetMap: named, later: 1 }, 'none', { missing: 'no', by: ['from'] }],
      until: 5,
      within: { blocks: 5 },
    }
    const { page, own, save } = await open(t, 'Odd', { targetType: 'Event', targetMap: named, when })
    await see(page, 'The form has no place for later.', 'This Step 2 is not an object: correct it as JSON.')
    await says(page, 'of each <img src=x>U+202E followed by document, then document within 5 blocks, unless document')
    assert.equal(await group(page, 'Step 1').getByLabel('Value').inputValue(), '<img src=x>\u202e')
    assert.equal(await save(), JSON.stringify(own))
  })

  test('an alert of steps says in which blocks they came, and which did not', async t => {
    const { page } = await open(t, 'Steps', WORKED.SCHEDULED_AND_LEFT)
    const at = '2026-01-02T03:04:05.000Z'
    await page.route('**/alerting/rules/77/alerts?**', route =>
      route.fulfill({
        json: {
          alerts: [
            {
              ...{
                id: 'alert_1',
                state: 'confirmed',
                block: 1_230,
                blockHash: '0x12',
                confirmations: 0,
                deliveries: [],
              },
              ...{ entity: { _id: '0xab', _type: 'block' }, receivedAt: at, changedAt: at, targetType: 'Block' },
              when: {
                ...{
                  key: { address: DUSD, 'args.id': '0x1' },
                  window: { fromBlock: 12, toBlock: 1_230, seconds: 600 },
                },
                ...{ conditions: [], matches: 1, entities: ['0xcd_1'], late: false },
                steps: [{ block: 1_012, _id: '0xcd_1' }, { missing: true }],
              },
            },
          ],
          next: null,
        },
      }),
    )
    await page.goto(`${bench.server.url}/console/rules/77`)
    const grid = page.getByRole('grid', { name: 'Alerts' })
    await see(grid, 'block 1,012 → none')
    await grid.getByText('block 1,012 → none').click()
    await see(page.getByRole('complementary', { name: 'The open alert' }), 'Steps', 'block 1,012 → none')
  })
})
