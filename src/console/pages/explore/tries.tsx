import { Link } from '../../shell/router.tsx'

interface Try {
  title: string
  query: Readonly<Record<string, string>>
}

const DOLLAR = '0x252bFe6BA05B239912fE0F8f514b3564F40A7A96'

/** Searches of the demo chain, each of which shows something else. */
const TRIES: readonly Try[] = [
  {
    title: 'Transfers of the demo dollar above 1,000',
    query: {
      kinds: 'event',
      view: 'conditions',
      q: JSON.stringify({
        bool: {
          filter: [
            { term: { 'event.raw': 'Transfer' } },
            { match: { address: DOLLAR } },
            {
              nested: {
                path: 'args',
                query: {
                  bool: {
                    filter: [{ term: { 'args.name': 'value' } }, { range: { 'args.value.scaled': { gt: '1000' } } }],
                  },
                },
              },
            },
          ],
        },
      }),
    },
  },
  { title: 'Everything about one token', query: { kinds: 'tx,event,log,call,contract,token', q: DOLLAR } },
  {
    title: 'Failed transactions, the dearest first',
    query: { kinds: 'tx', q: 'status:false', sort: 'gasUsed:desc', columns: '@time,@block,@thing,@what,gasUsed' },
  },
  { title: 'Swaps, in Lucene’s syntax', query: { kinds: 'event', q: 'event:Swap AND blockNumber.num:>100' } },
  { title: 'All that is in block 400', query: { kinds: 'block,tx,event,call', q: '400' } },
]

export const DEMO = 'ethereum/demo/local'

export const Tries = () => (
  <ul class="tries" aria-label="Examples to try">
    {TRIES.map(({ title, query }) => (
      <li key={title}>
        <Link to={`/explore?${new URLSearchParams(query)}`}>{title}</Link>
      </li>
    ))}
  </ul>
)
