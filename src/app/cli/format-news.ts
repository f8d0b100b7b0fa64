import type { DevFailure, DevNews, DevStep } from '../../dev/chain-news.ts'
import { formatCount, formatText } from './format.ts'

interface Style {
  colours: boolean
}

/** One line for each piece of news; the first one also shows how to query. */
export const formatDevNews = (news: DevNews, { colours }: Style): string => {
  const paint = (code: number) => (text: string) => (colours ? `\x1b[${code}m${text}\x1b[0m` : text)
  const [red, green, yellow, cyan, dim] = [paint(31), paint(32), paint(33), paint(36), paint(2)]
  const at = ({ block, time }: { block: number; time: string }) =>
    dim(`${`#${block}`.padEnd(4)}  ${time.slice(11, 19)}`)
  const who = (contract: string | null, address: string) =>
    contract === null ? address : cyan(formatText(contract, 60))

  const failureOf = ({ error, address, contract, call }: DevFailure): string => {
    const where = address === null ? '' : ` in ${who(contract, address)}${call === null ? '' : `.${formatText(call)}`}`
    return `${formatText(error, 1_000)}${where}`
  }
  const stepOf = (step: DevStep): string => {
    const { depth, type, to, contract, value, gasUsed, error } = step
    const made = type === 'create' ? `new ${contract === null ? 'contract' : cyan(formatText(contract, 60))}` : ''
    const whom = to === null ? '' : made === '' ? `${who(contract, to)}${calledBy(step)}` : ` at ${to}`
    const kind = type === 'call' || made !== '' ? '' : dim(`[${formatText(type, 20)}] `)
    const paid = value === '0' ? '' : ` with ${amountOf(value)}`
    const gas = gasUsed === null ? '' : dim(`gas ${gasUsed.toLocaleString('en')}`)
    const fault = error === null ? '' : red(`FAILED: ${formatText(error, 1_000)}`)
    return [`${' '.repeat(16)}${'  '.repeat(depth)}${kind}${made}${whom}${paid}`, gas, fault].filter(Boolean).join('  ')
  }

  switch (news.type) {
    case 'serving':
      return [
        `Chainsieve serves ${news.network} at ${news.url} for as long as this runs.`,
        `Token: ${news.token}`,
        ...(news.console === null ? [] : [`Console: ${news.console}`]),
        `Try: curl -s ${news.url}/${news.network}/es/event/search/ -H 'Authorization: Bearer ${news.token}'`,
        '',
      ].join('\n')
    case 'artifacts':
      return formatArtifacts(news)
    case 'broken':
      return yellow(`Skipped ${news.file}: ${formatText(news.why)}`)
    case 'waiting':
      return yellow(
        `Waiting for a node at ${news.node} (${formatText(news.why)}): start anvil or hardhat node there, or name another node by --rpc.`,
      )
    case 'back':
      return `The node at ${news.node} is back.`
    case 'node':
      return `Follows chain ${news.chainId} at ${news.node} from block ${news.from} on${news.fork === null ? '' : `, a fork at block ${news.fork}`}; its head is block ${news.head}.`
    case 'untraced':
      return yellow(news.why)
    case 'rollback':
      return yellow(
        news.to < 0
          ? 'The chain was restarted: forgot all blocks, and starts over.'
          : `The chain went back to block ${news.to}: forgot the blocks after it.`,
      )
    case 'tx': {
      const call =
        news.to === null
          ? `new ${news.contract === null ? 'contract' : cyan(formatText(news.contract, 60))}${news.created === null ? '' : ` at ${news.created}`}`
          : `${who(news.contract, news.to)}${calledBy(news)}`
      const value = news.value === '0' ? '' : ` with ${amountOf(news.value)}`
      const gas = news.gasUsed === null ? '' : dim(`gas ${news.gasUsed.toLocaleString('en')}`)
      const failed = news.failure === null ? 'FAILED' : `FAILED: ${failureOf(news.failure)}`
      const end = news.status === false ? red(failed) : news.status === null ? '' : green('ok')
      const from = dim(`from ${short(news.from)}`)
      const line = [at(news), 'tx   ', `${call}${value}`, from, gas, dim(news.hash), end].filter(Boolean).join('  ')
      return [line, ...news.steps.map(stepOf)].join('\n')
    }
    case 'event': {
      const text = news.text === null ? formatText(news.event, 60) : formatText(news.text, 1_000)
      const fault = news.error === null ? '' : red(`NOT DECODED: ${formatText(news.error)}`)
      return [at(news), 'event', who(news.contract, news.address), text, fault].filter(Boolean).join('  ')
    }
    case 'log': {
      const { topics, data } = news
      const text = `no ABI for ${topics.length === 0 ? 'a log without topics' : `topic ${topics[0]}`}, ${formatCount((data.length - 2) / 2, 'byte')} of data`
      return [at(news), 'log  ', who(news.contract, news.address), dim(text)].join('  ')
    }
  }
}

/** `.transfer(to=0x…, value=5)`, or as much of it as is known. */
const calledBy = (step: { call: string | null; selector: string | null; method?: string | null }): string => {
  if (step.call !== null) return `.${formatText(step.call, 1_000)}`
  return step.selector === null ? '' : `.${formatText(step.method ?? step.selector, 60)}()`
}

const formatArtifacts = ({ projects, contracts, again }: Extract<DevNews, { type: 'artifacts' }>): string => {
  if (projects.length === 0)
    return 'There is no Foundry or Hardhat project in this folder: decodes by the bundled registry of signatures only.'
  const from = projects.map(({ tool, artifacts }) => `${artifacts} (${tool})`).join(' and ')
  if (contracts === 0) return `Found no artifacts in ${from} yet: build the project, and they are loaded.`
  return `${again ? 'Loaded the rebuilt ABIs' : 'Decodes by the ABIs'} of ${formatCount(contracts, 'contract')} in ${from}.`
}

/** An amount of wei; in ether from a millionth of an ether upwards. */
const amountOf = (wei: string): string => {
  if (wei.length <= 12) return `${wei} wei`
  const digits = wei.padStart(19, '0')
  return `${digits.slice(0, -18)}.${digits.slice(-18)}`.replace(/\.?0+$/, '').concat(' ether')
}

/** `0xf39F…2266` */
const short = (address: string): string => `${address.slice(0, 6)}…${address.slice(-4)}`
