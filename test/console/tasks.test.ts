import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { until } from '../e2e/program.ts'
import { DEMO, see, skip, useConsole } from './support.ts'

const DOLLAR = '0x252bFe6BA05B239912fE0F8f514b3564F40A7A96'
const MOST_ACTIONS = 5

/** Counts what a person does: each click, and each text. */
const handOf = (page: Page) => {
  let actions = 0
  return {
    async click(target: Locator) {
      actions++
      await target.click()
    },
    /** Opens the choices, and takes one. */
    async select(field: Locator, choice: string) {
      actions += 2
      await field.selectOption(choice)
    },
    async type(field: Locator, text: string) {
      actions++
      await field.fill(text)
    },
    /** Types into the box of the header, and takes one of what it offers. */
    async jump(text: string, offered: RegExp) {
      actions += 2
      await page.getByRole('combobox', { name: 'Search', exact: true }).fill(text)
      await page.getByRole('option', { name: offered }).first().click()
    },
    done: () => assert.ok(actions <= MOST_ACTIONS, `it takes ${actions} actions`),
  }
}

/** What a new analyst does first, each in a few actions from the start page. */
describe('tasks of an analyst', { skip }, () => {
  const bench = useConsole(['--allow-target', '127.0.0.1/32', '--delivery-retries', '1s'])
  const item = (page: Page, name: string) => page.getByRole('menuitem', { name })

  test('finds the largest transfers of a token', async t => {
    const sort = [
      { 'args.value.scaled': { order: 'desc', nested: { path: 'args', filter: { term: { 'args.pos': 2 } } } } },
    ]
    const query = {
      bool: { filter: [{ term: { 'event.raw': 'Transfer' } }, { term: { address: DOLLAR.toLowerCase() } }] },
    }
    const { hits } = await bench.server.search(DEMO, 'event', { query, sort, size: 1 })
    const args = hits.hits[0]!._source.args as { value: { scaled: number } }[]
    const page = await bench.enter(t)
    const hand = handOf(page)
    await hand.jump('DUSD', /^DUSD token/)
    await hand.select(page.getByLabel('Show', { exact: true }), 'Largest first')
    const largest = page.getByRole('grid', { name: 'Token transfers' }).getByRole('row').nth(1)
    await see(largest, `${args[2]!.value.scaled.toLocaleString('en')} `)
    hand.done()
  })

  test('finds why a transaction failed', async t => {
    const query = { term: { revertName: 'OwnableUnauthorizedAccount' } }
    const { hits } = await bench.server.search(DEMO, 'tx', { query, size: 1 })
    const page = await bench.enter(t)
    const hand = handOf(page)
    await hand.jump(hits.hits[0]!._id, /transaction/)
    await see(page, /which failed: OwnableUnauthorizedAccount/, 'the failure began here')
    hand.done()
  })

  /** The search for calls of a method, split by who sent them. */
  const seeCallers = async (page: Page, hand: ReturnType<typeof handOf>) => {
    await hand.jump('transfer', /^transfer method/)
    await see(page.locator('.legend'), /^call$/)
    await hand.click(page.getByRole('button', { name: 'Split by kind' }))
    await hand.click(page.getByRole('menuitemradio', { name: 'sender' }))
  }

  test('finds who calls a method most, and makes a rule from that search', async t => {
    const page = await bench.enter(t)
    const hand = handOf(page)
    await seeCallers(page, hand)
    const { kinds = '' } = Object.fromEntries(new URL(page.url()).searchParams)
    const aggs = { by: { terms: { field: 'from.raw', size: 1 } } }
    const found = await bench.server.ask<{ aggregations: { by: { buckets: { key: string; doc_count: number }[] } } }>(
      `/${DEMO}/es/${kinds}/search/`,
      { query: { query_string: { query: 'method:transfer' } }, size: 0, aggs },
    )
    const [most] = found.body.aggregations.by.buckets
    const first = page.locator('.legend li').first()
    await first.getByTitle(most!.key).waitFor()
    await see(first, most!.doc_count.toLocaleString('en'))
    hand.done()

    const then = handOf(page)
    await then.click(page.getByRole('button', { name: 'More actions' }))
    await then.click(item(page, 'Create rule'))
    await then.type(page.getByLabel('Name', { exact: true }), 'Transfers')
    await then.type(page.getByLabel('URL', { exact: true }), 'http://127.0.0.1:9/hook')
    await then.click(page.getByRole('button', { name: 'Create the rule' }))
    await page.waitForURL(/\/rules\/\d+$/)
    await page.getByText('transfer', { exact: true }).first().waitFor()
    then.done()
  })

  test('notices a receiver that accepts nothing', async t => {
    const { status } = await bench.server.ask('/alerting/rules', {
      ...{ name: 'New blocks', maxConfirmationCount: 0, startBlock: 0 },
      ...{ technology: 'ethereum', blockchain: 'demo', network: 'local' },
      config: {
        targetType: 'Block',
        targetMap: [{ name: 'number', operator: 'Greater', value: '415' }],
        alerts: [{ type: 'Webhook (POST)', parameters: { url: 'http://127.0.0.1:9/dead' } }],
      },
    })
    assert.equal(status, 201)
    await until(
      () => bench.server.ask<{ deliveries: object[] }>('/alerting/deliveries/?state=dead'),
      ({ body }) => body.deliveries.length === 5,
    )
    const page = await bench.enter(t)
    const hand = handOf(page)
    await page.getByRole('img', { name: 'a receiver of alerts is failing' }).waitFor()
    await hand.click(page.getByRole('link', { name: /^Rules/ }))
    await hand.click(page.getByRole('grid', { name: 'Rules' }).getByRole('link', { name: 'New blocks' }))
    await see(page.getByRole('alert'), 'http://127.0.0.1:9/dead')
    hand.done()
  })

  test('downloads a CSV', async t => {
    const page = await bench.enter(t)
    // The browser saves it without asking where.
    await page.evaluate(() => Object.defineProperty(window, 'showSaveFilePicker', { value: undefined }))
    const hand = handOf(page)
    await hand.click(page.getByRole('button', { name: 'More actions' }))
    await hand.click(item(page, 'Download'))
    const coming = page.waitForEvent('download')
    await hand.click(page.getByRole('dialog').getByRole('button', { name: 'Download' }))
    const text = readFileSync((await (await coming).path())!, 'utf8')
    assert.equal(text.trim().split('\n').length - 1, await bench.server.total(DEMO, 'tx,event'))
    hand.done()
  })
})
