import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { checkLayout, choose, DEMO, press, see, signIn, skip, useConsole, violations } from './support.ts'

/** Headless browsers cannot show the dialog for a file. */
const withoutPicker = (page: Page) =>
  page.addInitScript(() => Object.defineProperty(window, 'showSaveFilePicker', { value: undefined }))

describe('Explore: hits and what is done with them', { skip }, () => {
  const bench = useConsole()
  const total = (kinds: string, query: unknown) => bench.server.total(DEMO, kinds, query)
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

  test('the demo chain offers five searches, each of which finds something', async t => {
    const page = await bench.enter(t)
    const tries = page.getByRole('list', { name: 'Examples to try' }).getByRole('link')
    await tries.first().waitFor()
    const links = await tries.evaluateAll(all => all.map(it => it.getAttribute('href')!))
    assert.equal(links.length, 5)
    for (const link of links) {
      await page.goto(bench.server.url + link)
      await see(page, /^[1-9][\d,]* hits? in/)
      await page.getByRole('grid').waitFor()
    }
  })

  test('amounts have decimals and a symbol, and tokens their names', async t => {
    const page = await bench.enter(t, '/console/explore?kinds=event&q=event:Transfer')
    await page
      .getByRole('gridcell', { name: /DUSD Transfer\(/ })
      .first()
      .waitFor()
    const amount = page.getByRole('gridcell', { name: /^[\d,.]+ DUSD$/ }).first()
    await amount.waitFor()
    const row = page.getByRole('row').filter({ has: amount })
    const str = await row.first().textContent()
    const [, raw] = /value=(\d+)/.exec(str!) ?? []
    const title = await amount.locator('.amount').getAttribute('title')
    if (raw !== undefined) assert.match(title!, new RegExp(`^${raw} / 10\\^`))
    assert.match(title!, /^\d+ \/ 10\^\d+$/)
  })

  test('columns are chosen, moved and sorted by, and the address keeps them', async t => {
    const page = await bench.enter(t, '/console/explore?kinds=tx')
    await choose(page, 'More actions', 'Columns')
    const dialog = page.getByRole('dialog', { name: 'Columns' })
    await dialog.getByLabel('Find a field').fill('gasUsed')
    await dialog.getByLabel('gasUsed', { exact: true }).click()
    await dialog.getByLabel('Amount', { exact: true }).click()
    assert.deepEqual(await violations(page), [])
    await page.keyboard.press('Escape')
    const header = page.getByRole('columnheader', { name: /gasUsed/ })
    await header.getByRole('button').click()
    await page.locator('[aria-sort=descending]').waitFor()
    const { hits } = await bench.server.search(DEMO, 'tx', { size: 1, sort: [{ 'gasUsed.num': 'desc' }] })
    const most = (hits.hits[0]!._source.gasUsed as { num: number }).num.toLocaleString('en-GB')
    const first = page.locator('[aria-rowindex="2"]')
    await first.getByText(most, { exact: true }).waitFor()
    await page.reload()
    await first.getByText(most, { exact: true }).waitFor()
    const grid = page.getByRole('grid')
    for (const end = Date.now() + 120_000; (await grid.getAttribute('aria-rowcount')) === '101' && Date.now() < end; ) {
      await grid.evaluate(box => box.scrollTo(0, box.scrollHeight))
      await page.waitForTimeout(50)
    }
    // A page or more, by how often it scrolled meanwhile.
    assert.match((await grid.getAttribute('aria-rowcount'))!, /^[2-9]01$/, 'further pages are sorted as well')
    await grid.evaluate(box => box.scrollTo(0, 0))
    await header.getByRole('button').click()
    await page.locator('[aria-sort=ascending]').waitFor()
    await header.getByRole('button').click()
    await page.locator('[aria-sort]').waitFor({ state: 'detached' })
  })

  test('a search is saved by name in this browser, and removed after a question', async t => {
    const page = await bench.enter(t, '/console/explore?kinds=event&q=event:Swap')
    await choose(page, 'More actions', 'Saved searches')
    const dialog = page.getByRole('dialog', { name: 'Saved searches' })
    await see(dialog, 'saved in this browser alone')
    await button(page, 'Save').click()
    await see(dialog, 'Type a name')
    const name = 'Swaps <b>\u202e'
    await dialog.getByLabel('Save the search').fill(name)
    await button(page, 'Save').click()
    const link = dialog.getByRole('link', { name: 'Swaps <b>[U+202E]' })
    await link.waitFor()
    assert.deepEqual(await violations(page), [])
    await page.goto(`${bench.server.url}/console/`)
    await choose(page, 'More actions', 'Saved searches')
    await link.click()
    await see(page, `${await total('event', { term: { 'event.raw': 'Swap' } })} hits in`)
    await choose(page, 'More actions', 'Saved searches')
    await press(dialog, /^Remove Swaps/)
    await button(page, 'Remove the search').click()
    await see(dialog, 'No search is saved yet')
    assert.equal(await page.evaluate(() => localStorage.getItem('chainsieve.searches')), '[]')
  })

  test('a search is copied as curl and as JSON, without the token', async t => {
    const page = await bench.enter(t, '/console/explore?kinds=event&q=event:Swap', {
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    await page.getByRole('grid').waitFor()
    const copy = async (how: string) => {
      await choose(page, 'More actions', how)
      await page
        .getByText(/^Copied/)
        .first()
        .waitFor()
      return page.evaluate(() => navigator.clipboard.readText())
    }
    const curl = await copy('as curl')
    assert.ok(curl.startsWith(`curl -s '${bench.server.url}/${DEMO}/es/event/search/'`), curl)
    assert.ok(!curl.includes('cs_'))
    const body = await copy('as JSON')
    const answer = await bench.server.search(DEMO, 'event', JSON.parse(body))
    assert.equal(answer.hits.total, await total('event', { term: { 'event.raw': 'Swap' } }))
  })

  test('all hits are downloaded as CSV and as NDJSON', async t => {
    const page = await bench.open(t)
    await withoutPicker(page)
    await page.goto(`${bench.server.url}/console/explore?kinds=event,log`)
    await signIn(page, bench.server.token)
    await page.getByRole('grid').waitFor()
    const all = await total('event,log', { match_all: {} })
    await choose(page, 'More actions', 'Download')
    const dialog = page.getByRole('dialog', { name: 'Download' })
    const take = async (form: string) => {
      await dialog.getByLabel('Format').selectOption(form)
      const waits = page.waitForEvent('download')
      await button(page.locator('dialog') as unknown as Page, 'Download').click()
      const file = await waits
      await see(dialog, `Downloaded ${all.toLocaleString('en-GB')} hits`)
      return { name: file.suggestedFilename(), text: readFileSync(await file.path(), 'utf8') }
    }
    const lines = await take('ndjson')
    assert.equal(lines.name, 'ethereum-demo-local-event-log.ndjson')
    assert.equal(
      new Set(
        lines.text
          .trim()
          .split('\n')
          .map(line => JSON.parse(line)._id),
      ).size,
      all,
    )
    assert.deepEqual(await violations(page), [])
    await dialog.getByLabel('All fields').uncheck()
    const table = await take('csv')
    assert.match(table.text, /^_id,_type,.*timestamp/)
  })

  test('a download of one event has a column for each argument', async t => {
    const page = await bench.open(t)
    await withoutPicker(page)
    await page.goto(`${bench.server.url}/console/explore?kinds=event&q=event:Swap`)
    await signIn(page, bench.server.token)
    await page.getByRole('grid').waitFor()
    await choose(page, 'More actions', 'Download')
    const dialog = page.getByRole('dialog', { name: 'Download' })
    const take = async () => {
      const waits = page.waitForEvent('download')
      await button(page.locator('dialog') as unknown as Page, 'Download').click()
      const file = await waits
      await see(dialog, 'Downloaded ')
      return readFileSync(await file.path())
    }
    await dialog.getByLabel('A column for each argument').check()
    assert.match(
      (await take()).toString(),
      /^blockNumber,timestamp,transactionHash,transactionIndex,logIndex,address,sender,/,
    )
    await dialog.getByLabel('Format').selectOption('parquet')
    const file = await take()
    assert.equal(file.subarray(0, 4).toString() + file.subarray(-4).toString(), 'PAR1PAR1')
    assert.deepEqual(await violations(page), [])
  })

  test('a download goes to the chosen file piece by piece, and can be cancelled', async t => {
    const page = await bench.open(t)
    await page.addInitScript(() => {
      const file = { bytes: 0, state: 'open' }
      const sink = {
        async write(chunk: Uint8Array) {
          file.bytes += chunk.length
          await new Promise(resolve => setTimeout(resolve, 200))
        },
        async close() {
          file.state = 'closed'
        },
        async abort() {
          file.state = 'aborted'
        },
      }
      Object.assign(window, { file, showSaveFilePicker: async () => ({ createWritable: async () => sink }) })
    })
    await page.goto(`${bench.server.url}/console/explore?kinds=event,log,call,trace`)
    await signIn(page, bench.server.token)
    await page.getByRole('grid').waitFor()
    await choose(page, 'More actions', 'Download')
    const dialog = page.getByRole('dialog', { name: 'Download' })
    await dialog.getByRole('button', { name: 'Download', exact: true }).click()
    await dialog.getByRole('progressbar').waitFor()
    assert.deepEqual(await violations(page), [])
    await button(page, 'Cancel the download').click()
    await dialog.getByLabel('Format').waitFor()
    assert.equal(await page.evaluate(() => (window as unknown as { file: { state: string } }).file.state), 'aborted')
  })

  test('dragging across the chart narrows the time', async t => {
    const page = await bench.enter(t, '/console/explore?kinds=event')
    await page.locator('.chart canvas').waitFor()
    const all = await total('event', { match_all: {} })
    const { x, y, width, height } = (await page.locator('.chart .u-over').boundingBox())!
    await page.mouse.move(x + width * 0.3, y + height / 2)
    await page.mouse.down()
    await page.mouse.move(x + width * 0.6, y + height / 2, { steps: 5 })
    await page.mouse.up()
    await button(page, 'Show the whole time').waitFor()
    const { searchParams } = new URL(page.url())
    const [gte, lt] = [searchParams.get('from'), searchParams.get('to')]
    const some = await total('event', { range: { timestamp: { gte, lt, format: 'epoch_millis' } } })
    assert.ok(some > 0 && some < all)
    await see(page, `${some.toLocaleString('en-GB')} hits in`)
  })

  for (const colorScheme of ['light', 'dark'] as const)
    test(`axe finds nothing where all columns are (${colorScheme})`, async t => {
      const columns = '@time,@block,@kind,@thing,@what,@amount,from,value,args,status'
      const page = await bench.enter(t, `/console/explore?columns=${columns}`, { colorScheme })
      await page.getByRole('row').nth(3).waitFor()
      await checkLayout(page)
    })
})
