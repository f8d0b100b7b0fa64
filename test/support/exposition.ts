import assert from 'node:assert/strict'

/** A strict reader of Prometheus's text format: what it takes, Prometheus takes. */
export interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

export interface Family {
  name: string
  type: string
  help: string
  samples: Sample[]
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/s
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\n"])*)"(,|$)/y

export const parseExposition = (text: string): Map<string, Family> => {
  assert.ok(text.endsWith('\n'), 'the last line has no end')
  const families = new Map<string, Family>()
  let open: Family | undefined
  for (const line of text.slice(0, -1).split('\n')) {
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? []
    if (keyword === 'HELP') {
      assert.match(name, NAME)
      assert.ok(!families.has(name), `${name} stands in two places`)
      assert.ok(rest.length > 10, `${name} has no meaning`)
      open = { name, type: '', help: rest, samples: [] }
      families.set(name, open)
    } else if (keyword === 'TYPE') {
      assert.equal(name, open?.name)
      assert.match(rest, /^(counter|gauge|histogram)$/)
      open!.type = rest
    } else open!.samples.push(sampleOf(line, open!))
  }
  for (const family of families.values()) checkFamily(family)
  return families
}

const sampleOf = (line: string, { name: family, type }: Family): Sample => {
  const [, name = '', labels = '', value = ''] = SAMPLE.exec(line) ?? []
  assert.notEqual(name, '', `no sample: ${line}`)
  const names = type === 'histogram' ? ['_bucket', '_sum', '_count'].map(end => family + end) : [family]
  assert.ok(names.includes(name), `${name} stands under ${family}`)
  const number = value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value)
  assert.ok(value !== '' && !Number.isNaN(number), line)
  return { name, labels: labelsOf(labels, line), value: number }
}

const labelsOf = (text: string, line: string): Record<string, string> => {
  const labels: Record<string, string> = {}
  LABEL.lastIndex = 0
  while (LABEL.lastIndex < text.length) {
    const [whole, name = '', value = ''] = LABEL.exec(text) ?? []
    assert.ok(whole !== undefined, `no labels: ${line}`)
    assert.ok(!Object.hasOwn(labels, name), `${name} stands twice: ${line}`)
    labels[name] = value.replace(/\\(.)/g, (_, escaped) => (escaped === 'n' ? '\n' : escaped))
  }
  return labels
}

const checkFamily = ({ name, type, samples }: Family) => {
  assert.ok(samples.length > 0, `${name} has no samples`)
  assert.equal(name.endsWith('_total'), type === 'counter', `${name} is a ${type}`)
  const keys = samples.map(sample => JSON.stringify([sample.name, Object.entries(sample.labels).sort()]))
  assert.equal(new Set(keys).size, keys.length, `${name} has a series twice`)
  for (const { value } of samples) if (type !== 'gauge') assert.ok(value >= 0, `${name} is ${value}`)
  if (type !== 'histogram') return
  const series = Map.groupBy(samples, ({ labels: { le: _, ...others } }) =>
    JSON.stringify(Object.entries(others).sort()),
  )
  for (const all of series.values()) {
    const buckets = all.filter(sample => sample.name.endsWith('_bucket'))
    const bounds = buckets.map(({ labels }) => (labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels.le)))
    assert.deepEqual(
      bounds,
      bounds.toSorted((a, b) => a - b),
    )
    assert.equal(bounds.at(-1), Number.POSITIVE_INFINITY)
    const counts = buckets.map(({ value }) => value)
    assert.deepEqual(
      counts,
      counts.toSorted((a, b) => a - b),
    )
    assert.equal(all.find(sample => sample.name === `${name}_count`)?.value, counts.at(-1))
    assert.ok(all.some(sample => sample.name === `${name}_sum`))
  }
}
