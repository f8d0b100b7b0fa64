module chainsieve/go-elasticsearch

go 1.21

require github.com/elastic/go-elasticsearch/v8 v8.17.0
