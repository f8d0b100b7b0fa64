module chainsieve/opensearch-go

go 1.21

require github.com/opensearch-project/opensearch-go/v4 v4.3.0
