import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { until } from '../e2e/program.ts'
import { checkLayout, counted, DEMO, follow, press, see, skip, useConsole, violations } from './support.ts'

describe('Explore: the views of a query', { skip }, () => {
  const bench = useConsole()
  const total = (kinds: string, query: unknown) => bench.server.total(DEMO, kinds, query)
  const search = (page: Page) => page.getByRole('button', { name: 'Search', exact: true }).click()

  test('box, conditions and JSON are one query, whichever is changed', async t => {
    const page = await bench.enter(t, '/console/explore?kinds=event&view=conditions,json')
    const [box, value] = [page.getByLabel('Query', { exact: true }), page.getByLabel('Value 1')]
    const json = page.getByRole('textbox', { name: 'The query as JSON' })
    await page.getByLabel('Field 1').fill('event.raw')
    await page.locator('.meaning').getByText('Name of the event.').waitFor()
    await value.fill('Swap')
    assert.equal(await box.inputValue(), '{"term":{"event.raw":"Swap"}}')
    await see(json, '"Swap"')
    await press(page, 'Add a condition')
    await page.getByLabel('Field 2').fill('blockNumber.num')
    await page.getByLabel('Operator 2').selectOption({ label: 'is at most' })
    await page.getByLabel('Value 2').fill('200')
    await page.getByLabel('Value 2').press('Enter')
    const query = {
      bool: { filter: [{ term: { 'event.raw': 'Swap' } }, { range: { 'blockNumber.num': { lte: 200 } } }] },
    }
    const expected = await total('event', query)
    await see(page, `${expected} hits in`)

    await json.fill('{"bool": {"must_not": [{"term": {"event.raw": "Swap"}}]}}')
    await until(
      () => page.getByLabel('Operator 1').inputValue(),
      it => it === '!is',
    )
    await json.press('Control+Enter')
    await page
      .getByText(
        `${(await total('event', { bool: { must_not: [{ term: { 'event.raw': 'Swap' } }] } })).toLocaleString('en-GB')} hits in`,
      )
      .waitFor()

    await box.fill('event:Sync')
    await see(json, '"event:Sync"')
    await until(
      () => value.inputValue(),
      it => it === 'event:Sync',
    )
    await box.fill('{"bool": {"should": [{"term": {"event.raw": "Sync"}}]}}')
    await see(page, 'Conditions cannot show this')
    await box.fill('{"bool"')
    await see(page, 'The query cannot be shown as conditions')
  })

  test('arguments are asked for by name, and known values are offered', async t => {
    const page = await bench.enter(t, '/console/explore?kinds=event&view=conditions')
    await page.getByLabel('Field 1').fill('args.value.type')
    await page.getByLabel('Argument 1').click()
    await page.getByRole('option', { name: 'tokenId', exact: true }).waitFor()
    await page.getByLabel('Argument 1').fill('tokenId')
    await page.getByLabel('Value 1').click()
    await page.getByRole('option', { name: 'uint256', exact: true }).waitFor()
    await page.getByLabel('Value 1').fill('uint256')
    await search(page)
    const filter = [{ term: { 'args.name': 'tokenId' } }, { term: { 'args.value.type': 'uint256' } }]
    const expected = await total('event', { nested: { path: 'args', query: { bool: { filter } } } })
    assert.ok(expected > 0)
    await see(page, `${expected.toLocaleString('en-GB')} hits in`)
  })

  test('the editor completes clauses, fields and values, and shows faults at their place', async t => {
    const page = await bench.enter(t, '/console/explore?kinds=event&view=json')
    const json = page.getByRole('textbox', { name: 'The query as JSON' })
    const offer = (name: string) => page.getByRole('option', { name })
    /** The editor takes no Enter in the first moments of a list, lest it takes what was not seen. */
    const take = async (name: RegExp) => {
      await page.getByRole('option', { name, selected: true }).waitFor()
      await page.waitForTimeout(150)
      await page.keyboard.press('Enter')
    }
    await json.click()
    await page.keyboard.type('{"ter')
    await offer('terms').first().waitFor()
    await take(/^term/)
    await page.keyboard.type('event.r')
    await take(/^event\.raw/)
    await page.keyboard.press('Control+Space')
    await offer('Transfer').first().waitFor()
    await page.keyboard.type('Swa')
    await take(/^Swap/)
    const text = await page.getByLabel('Query', { exact: true }).inputValue()
    assert.deepEqual(JSON.parse(text), { term: { 'event.raw': 'Swap' } })
    await page.keyboard.press('Control+Enter')
    await see(page, `${await total('event', { term: { 'event.raw': 'Swap' } })} hits in`)

    await json.fill('{"bool": {"filter": [{"term": {"evnt": 1}}]}}')
    const fault = page.locator('.cm-lintRange-error')
    await fault.waitFor()
    assert.equal(await fault.textContent(), '"evnt": 1')
  })

  test('the box suggests names, and an empty answer says what may be meant', async t => {
    const page = await bench.enter(t, '/console/explore?kinds=tx')
    const box = page.getByLabel('Query', { exact: true })
    await box.pressSequentially('TransferSing')
    await page.getByRole('option', { name: /^TransferSingle/ }).waitFor()
    const selected = page.locator('[data-highlighted]', { hasText: 'TransferSingle' })
    // Suggestions that arrive late begin a new list, of which none is selected.
    await until(
      async () => {
        if ((await selected.count()) === 0) await page.keyboard.press('ArrowDown')
        return selected.count()
      },
      count => count > 0,
    )
    await page.keyboard.press('Enter')
    await page.waitForFunction(
      () => document.querySelector<HTMLInputElement>('.ask input')!.value === 'event.raw:"TransferSingle"',
    )
    assert.ok(await page.getByLabel('Events', { exact: true }).isChecked(), 'the kind that it needs is chosen')
    await page.keyboard.press('Enter')
    await see(page, `${await total('event', { term: { 'event.raw': 'TransferSingle' } })} hits in`)
    await box.fill('tranferr')
    await search(page)
    await see(page, 'Nothing was found')
    await follow(page, /^Transfer$/)
    await see(page, /^1,\d\d\d hits in/)
  })

  test('a search without hits says what was meant: a token, a contract, or a comparison', async t => {
    const page = await bench.enter(t, '/console/explore?q=DUSD')
    await see(page, 'Nothing was found', /^token 0x252b/)
    assert.deepEqual(await violations(page), [])
    await follow(page, 'Everything about DUSD')
    await see(page, 'Understood as an address', /^[1-9][\d,]* hits in/)
    await page.goBack()
    await see(page, 'Nothing was found')
    await counted(page.getByRole('grid'), 0)
    await follow(page, /^DUSD$/)
    await page.getByRole('heading', { name: 'Token DUSD' }).waitFor()

    await page.goto(`${bench.server.url}/console/explore?q=${encodeURIComponent('value > 1,000')}`)
    await follow(page, /^Events whose argument value > 1,000$/)
    const above = [{ term: { 'args.name': 'value' } }, { range: { 'args.value.scaled': { gt: 1000 } } }]
    const expected = await total('event', { nested: { path: 'args', query: { bool: { filter: above } } } })
    assert.ok(expected > 0)
    await see(page, `${expected.toLocaleString('en-GB')} hits in`)
  })

  for (const colorScheme of ['light', 'dark'] as const)
    test(`axe finds nothing in the views, wide and narrow (${colorScheme})`, async t => {
      const page = await bench.enter(t, '/console/explore?kinds=event&view=conditions,json&q=event:Swap', {
        colorScheme,
      })
      await page.getByLabel('Value 1').waitFor()
      await page.getByRole('textbox', { name: 'The query as JSON' }).waitFor()
      await page.getByLabel('Query', { exact: true }).pressSequentially(' AND tran')
      await page.getByRole('listbox', { name: 'Suggestions' }).getByRole('option').first().waitFor()
      await page.keyboard.press('ArrowDown')
      await checkLayout(page)
    })
})
