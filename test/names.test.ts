import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadConfig } from '../src/config/index.ts'
import { fillUrl, select } from '../src/delivery/payload.ts'
import { ChainsieveError } from '../src/lib/errors.ts'
import { isLimit, parseAmount } from '../src/limits/index.ts'
import { KINDS, lookup } from '../src/mapping/index.ts'
import { parseSearch } from '../src/query/parse.ts'
import { readSource } from '../src/rules/notify/values.ts'
import { TARGET_TYPES } from '../src/rules/rule.ts'
import { checkRule } from '../src/rules/schema.ts'
import { chainsieve, folder } from './app/cli/support.ts'
import { appOf, MAINNET, TOKEN } from './http/support.ts'
import { ruleBody, ruleConfig } from './support/rules.ts'

// Names that every object of JavaScript has: to look one up in a plain object finds something that nobody put there.

const NAMES = [...Object.getOwnPropertyNames(Object.prototype), 'prototype', 'then']
const PATHS = NAMES.flatMap(name => [name, `from.${name}`, `value.${name}`, `args.${name}`, `args.value.${name}`])

/** An object with a member of that name and no other, as JSON makes it. */
const withMember = (name: string, value: unknown) => JSON.parse(`{${JSON.stringify(name)}: ${JSON.stringify(value)}}`)

const ask = async (path: string, { body, ...headers }: Record<string, string> = {}, method = 'GET') => {
  const init = { method, headers: { authorization: `Bearer ${TOKEN}`, ...headers } }
  const response = await appOf().request(path, body === undefined ? init : { ...init, body })
  return { status: response.status, type: JSON.parse(await response.text()).error?.type as string | undefined }
}

test('in paths: of networks and of kinds', async () => {
  for (const name of NAMES) {
    const network = await ask(`/${name}/${name}/${name}/es/tx/search/`)
    assert.deepEqual(network, { status: 404, type: 'index_not_found_exception' }, name)
    const mixed = await ask(`/ethereum/ethereum/${name}/es/tx/_doc/1`)
    assert.deepEqual(mixed, { status: 404, type: 'index_not_found_exception' }, name)
    const kind = await ask(`/${MAINNET}/es/${name}/search/`)
    // What begins with an underscore is no index, but an endpoint of Elasticsearch's.
    const none = { status: 404, type: 'index_not_found_exception' }
    assert.deepEqual(kind, name.startsWith('_') ? { status: 400, type: 'illegal_argument_exception' } : none, name)
    assert.equal((await ask(`/${name}`)).status, 404)
  }
})

test('as parameters of URLs', async () => {
  for (const name of NAMES) {
    const answer = await ask(`/${MAINNET}/es/tx/search/?${name}=1`)
    assert.deepEqual(answer, { status: 400, type: 'illegal_argument_exception' }, name)
    assert.equal((await ask(`/${MAINNET}/es/suggest?q=a&${name}=1`)).status, 400, name)
  }
})

test('as values of headers', async () => {
  for (const name of NAMES) {
    const encoded = await ask(`/${MAINNET}/es/tx/search/`, { 'content-encoding': name, body: '{}' }, 'POST')
    assert.deepEqual(encoded, { status: 415, type: 'unsupported_media_type_exception' }, name)
    const typed = await ask(`/${MAINNET}/es/tx/search/`, { 'content-type': name, accept: name, body: '{}' }, 'POST')
    assert.equal(typed.status, 200, name)
    for (const authorization of [name, `${name} ${TOKEN}`, `Bearer ${name}`])
      assert.equal((await ask('/status', { authorization })).status, 401, authorization)
  }
})

const refused = (body: string, what: string) => {
  for (const kind of KINDS) {
    const error = (() => {
      try {
        return parseSearch(body, [kind], 0)
      } catch (error) {
        return error
      }
    })()
    assert.ok(error instanceof ChainsieveError && error.next === 'refuse', `${kind}, ${what}: ${body}`)
  }
}

test('as fields, clauses and keys of a query', () => {
  for (const path of PATHS) {
    for (const kind of KINDS) assert.equal(lookup(kind, path), undefined, path)
    for (const clause of ['term', 'terms', 'range', 'match', 'prefix', 'wildcard'])
      refused(JSON.stringify({ query: { [clause]: withMember(path, clause === 'range' ? { gte: 1 } : 'a') } }), clause)
    refused(JSON.stringify({ query: { exists: { field: path } } }), 'exists')
    refused(JSON.stringify({ sort: withMember(path, 'asc') }), 'sort')
    refused(JSON.stringify({ query: { nested: { path, query: {} } } }), 'nested')
  }
  for (const name of NAMES) {
    refused(JSON.stringify({ query: withMember(name, {}) }), 'clause')
    refused(JSON.stringify(withMember(name, {})), 'key')
    refused(JSON.stringify({ query: { bool: withMember(name, []) } }), 'bool')
  }
})

const faults = (change: object) => checkRule(ruleBody({ config: ruleConfig(change as never) })).faults

test('as attributes, operators, target types and ways to alert of a rule', () => {
  const webhook = { type: 'Webhook (POST)', parameters: { url: 'https://example.org/' } }
  for (const targetType of TARGET_TYPES)
    for (const path of PATHS) {
      // What arguments are called is for whoever wrote the contract to say.
      if (path.startsWith('args')) continue
      const condition = { operator: 'Equals', value: '1' }
      assert.notDeepEqual(faults({ targetType, targetMap: [{ name: path, ...condition }] }), [], path)
      for (const name of ['from', 'value', 'topics', 'address', 'hash']) {
        const inspected = { name, operator: 'Inspect', operatorParameters: [{ name: path, ...condition }] }
        assert.notDeepEqual(faults({ targetType, targetMap: [inspected] }), [], `${targetType} ${name} ${path}`)
      }
    }
  for (const name of NAMES) {
    assert.notDeepEqual(faults({ targetMap: [{ name: 'event', operator: name, value: '1' }] }), [], name)
    assert.notDeepEqual(faults({ targetType: name }), [], name)
    assert.notDeepEqual(faults({ alerts: [{ ...webhook, type: name }] }), [], name)
    assert.notDeepEqual(faults({ alerts: [{ ...webhook, parameters: withMember(name, 'https://a.b/') }] }), [], name)
    assert.notDeepEqual(faults(withMember(name, 1)), [], name)
    // Further members of a rule are kept as they are, save the one that would change what it is.
    if (name === '__proto__') continue
    const { rule } = checkRule({ ...ruleBody(), ...withMember(name, 1) })
    assert.equal(Object.getPrototypeOf(rule ?? null), Object.prototype, name)
  }
})

test('in payloads and tokens of URLs', () => {
  const source = readSource('{"from": "0x1", "value": {"num": 1}, "args": [], "topics": ["0x2"]}')
  for (const path of PATHS) {
    assert.deepEqual(select(source, [{ fieldType: 'Field', fieldName: path, subPayloads: null }]), {}, path)
    assert.equal(String(fillUrl(`https://a.b/?q={${path}}`, source)), 'https://a.b/?q=', path)
  }
  const args = NAMES.map((name, pos) => ({ name, pos, value: { hex: '0x1', num: 1, scaled: null, type: 'uint8' } }))
  const named = readSource(JSON.stringify({ args }))
  for (const name of NAMES) {
    const items = [{ fieldType: 'Field' as const, fieldName: name, subPayloads: null }]
    const shown = select(named, [{ fieldType: 'Sub Field', fieldName: 'args', subPayloads: items }]) as { args: object }
    assert.deepEqual(Object.keys(shown.args), [name])
  }
})

test('in configuration, flags, units and limits', async () => {
  for (const name of NAMES) {
    const load = (text: string) => {
      writeFileSync(join(folder, 'names.toml'), text)
      return () => loadConfig({ env: {}, cwd: folder, flags: { config: 'names.toml' } })
    }
    assert.throws(load(`${name} = 1`), { next: 'refuse' }, name)
    assert.throws(load(`[[networks]]\nnetwork = "a/b/c"\n${name} = 1`), { next: 'refuse' }, name)
    assert.throws(load(`query-deadline = "1 ${name}"`), { next: 'refuse' }, name)
    assert.throws(load(`limit = ["${name}=1"]`), { next: 'refuse' }, name)
    assert.throws(() => loadConfig({ env: { [`CHAINSIEVE_${name}`]: '1' }, cwd: folder }), { next: 'refuse' }, name)
    assert.equal(isLimit(name), false)
    for (const unit of ['count', 'bytes', 'duration'] as const) assert.equal(parseAmount(unit, `1${name}`), undefined)
    for (const argv of [
      ['status', `--${name}`, '1'],
      ['status', `--${name}=1`],
      [name],
      ['rules', name],
      ['status', `--no-${name}`],
    ])
      assert.deepEqual([(await chainsieve(argv)).code, argv], [2, argv])
  }
})
